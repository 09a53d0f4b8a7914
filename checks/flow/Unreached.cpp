#include "flow/Unreached.h"
#include "flow/ClassParts.h"
#include "flow/Words.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace clang;

namespace torchtidy::flow {

static const SourceManager &sourcesOf(const Decl *D) {
  return D->getASTContext().getSourceManager();
}

static bool isInMainFile(const Decl *D) {
  const SourceManager &SM = sourcesOf(D);
  return SM.isInMainFile(SM.getExpansionLoc(D->getLocation()));
}

/// It is in a source that the command line includes before the main file.
static bool isInCompanion(const Decl *D) {
  const SourceManager &SM = sourcesOf(D);
  const FileID File = SM.getFileID(SM.getExpansionLoc(D->getLocation()));
  const SourceLocation From = SM.getIncludeLoc(File);
  const OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File);
  // Clang puts what -include names behind its own macros.
  if (!From.isValid() || !Entry ||
      !(SM.isWrittenInBuiltinFile(From) || SM.isWrittenInCommandLineFile(From)))
    return false;
  const StringRef Ending = llvm::sys::path::extension(Entry->getName());
  return Ending.starts_with(".c") || Ending == ".C";
}

bool mayRunUnnamed(const FunctionDecl *F, const LibraryNames &Library) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return F->isMain() || !F->getIdentifier() || Library.Calls(F) ||
         (Method && Method->isVirtual()) ||
         isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(F) ||
         F->isOverloadedOperator() || F->isTemplateInstantiation() ||
         F->getDescribedFunctionTemplate() || F->isDependentContext() ||
         F->isExternC() || F->hasAttr<UsedAttr>() ||
         F->hasAttr<ConstructorAttr>() || F->hasAttr<DestructorAttr>() ||
         F->hasAttr<VisibilityAttr>();
}

namespace {

/// Pieces of the user's files.
class Ranges {
public:
  explicit Ranges(const SourceManager &SM) : SM(SM) {}

  /// What declares F, and its body.
  void add(const FunctionDecl *F) {
    for (const FunctionDecl *Each : F->redecls())
      add(Each->getBeginLoc(), Each->getEndLoc());
  }

  void add(const CXXRecordDecl *Class) {
    for (const SourceRange &Each : partsOf(Class))
      add(Each.getBegin(), Each.getEnd());
  }

  bool containAll(llvm::ArrayRef<SourceLocation> Places) const {
    return llvm::all_of(Places, [&](SourceLocation Place) {
      const unsigned At = Place.getRawEncoding();
      const auto Next = Ends.upper_bound(At);
      return Next != Ends.begin() && At <= std::prev(Next)->second;
    });
  }

private:
  void add(SourceLocation Begin, SourceLocation End) {
    Begin = SM.getExpansionLoc(Begin);
    End = SM.getExpansionLoc(End);
    if (Begin.isValid() && End.isValid() &&
        SM.getFileID(Begin) == SM.getFileID(End))
      add(Begin.getRawEncoding(), End.getRawEncoding());
  }

  void add(unsigned Begin, unsigned End) {
    auto At = Ends.upper_bound(Begin);
    if (At != Ends.begin() && std::prev(At)->second >= Begin) {
      --At;
      Begin = At->first;
    }
    while (At != Ends.end() && At->first <= End) {
      End = std::max(End, At->second);
      At = Ends.erase(At);
    }
    Ends[Begin] = End;
  }

  const SourceManager &SM;
  /// By where they begin; none meets another.
  std::map<unsigned, unsigned> Ends;
};

} // namespace

//===-- What no word names ------------------------------------------------===//

/// Begins with all that could be, and takes out what a word names that stands
/// in none of them, until nothing changes: so two functions that only call
/// each other stay.
class Unreached::Search {
public:
  explicit Search(const Unreached &Of)
      : Of(Of), Context(Of.Functions.all().front()->getASTContext()),
        All(Of.Functions, Context) {}

  Names run() {
    llvm::DenseSet<const CXXRecordDecl *> Seen;
    for (const FunctionDecl *F : Of.Functions.all()) {
      if (mayBeUnnamed(F))
        Result.Functions.insert(F->getCanonicalDecl());
      const auto *Method = dyn_cast<CXXMethodDecl>(F);
      if (!Method)
        continue;
      const CXXRecordDecl *Class = Method->getParent()->getCanonicalDecl();
      if (Seen.insert(Class).second && mayBeUnnamed(Class))
        Result.Classes.insert(Class);
    }
    while (takeOut())
      ;
    return std::move(Result);
  }

private:
  const SourceManager &sources() const { return Context.getSourceManager(); }

  bool mayBeUnnamed(const FunctionDecl *F) const {
    if (mayRunUnnamed(F, Of.Library) || !Of.isOfProgram(F))
      return false;
    // What mentions it without a word (a library's template, a macro that
    // makes names) is not known.
    return !isMentioned(F) ||
           llvm::any_of(All.places(F->getName()), [&](SourceLocation Place) {
             return llvm::none_of(F->redecls(), [&](const FunctionDecl *Each) {
               return Each->getLocation() == Place;
             });
           });
  }

  bool mayBeUnnamed(const CXXRecordDecl *Class) const {
    if (mayBeMadeUnnamed(Class) || !Of.isOfProgram(Class))
      return false;
    Ranges Own(sources());
    Own.add(Class);
    return !isConstructorMentioned(Class) || !holdAll(Own, Class);
  }

  /// Each word that could make an object of Class.
  bool holdAll(const Ranges &Where, const CXXRecordDecl *Class) const {
    return Where.containAll(All.places(Class->getName())) &&
           Where.containAll(All.places(Of.Library.Stem(Class)));
  }

  bool takeOut() {
    Ranges Where(sources());
    for (const FunctionDecl *F : Result.Functions)
      Where.add(F);
    for (const CXXRecordDecl *Class : Result.Classes)
      Where.add(Class);
    llvm::SmallVector<const FunctionDecl *> Run;
    for (const FunctionDecl *F : Result.Functions)
      if (!Where.containAll(All.places(F->getName())))
        Run.push_back(F);
    llvm::SmallVector<const CXXRecordDecl *> Made;
    for (const CXXRecordDecl *Class : Result.Classes)
      if (!holdAll(Where, Class))
        Made.push_back(Class);
    for (const FunctionDecl *F : Run)
      Result.Functions.erase(F);
    for (const CXXRecordDecl *Class : Made)
      Result.Classes.erase(Class);
    return !Run.empty() || !Made.empty();
  }

  const Unreached &Of;
  const ASTContext &Context;
  Words All;
  Names Result;
};

Unreached::Unreached(const UserFunctions &Functions, LibraryNames Library)
    : Functions(Functions), Library(Library) {
  for (const FunctionDecl *F : Functions.all()) {
    IsProgram |= F->isMain() && isInMainFile(F);
    IsWhole |= isInCompanion(F);
  }
}

bool Unreached::isOfProgram(const Decl *D) const {
  return llvm::all_of(D->redecls(), [&](const Decl *Each) {
    return IsWhole ? Functions.isUserCode(Each->getLocation())
                   : isInMainFile(Each);
  });
}

bool Unreached::contains(const FunctionDecl *F) const {
  if (!IsProgram || F->isMain())
    return false;
  if (!Found)
    Found = Search(*this).run();
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Found->Functions.count(F->getCanonicalDecl()) ||
         (Method &&
          Found->Classes.count(Method->getParent()->getCanonicalDecl()));
}

} // namespace torchtidy::flow

#include "flow/Unreached.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace torchtidy::flow {

/// The identifiers of the user's files, and where they stand: also in code that
/// no instantiation, no configuration and no error leaves in the AST.
class Unreached::Words {
public:
  explicit Words(const UserFunctions &Functions, const ASTContext &Context)
      : SM(Context.getSourceManager()) {
    for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
      const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
      const auto Start = SourceLocation::getFromRawEncoding(Entry.getOffset());
      if (Entry.isFile() && Functions.isUserCode(Start))
        add(SM.getFileID(Start), Context.getLangOpts());
    }
  }

  /// Each place of the name is one that IsOwn knows.
  bool areAll(StringRef Name,
              llvm::function_ref<bool(SourceLocation Place)> IsOwn) const {
    const auto Found = Places.find(Name);
    return Found == Places.end() || llvm::all_of(Found->second, IsOwn);
  }

private:
  void add(FileID File, const LangOptions &Language) {
    const std::optional<llvm::MemoryBufferRef> Text = SM.getBufferOrNone(File);
    if (!Text)
      return;
    Lexer Reader(SM.getLocForStartOfFile(File), Language,
                 Text->getBufferStart(), Text->getBufferStart(),
                 Text->getBufferEnd());
    Token Next;
    while (!Reader.LexFromRawLexer(Next))
      if (Next.is(tok::raw_identifier))
        Places[Next.getRawIdentifier()].push_back(Next.getLocation());
  }

  const SourceManager &SM;
  llvm::StringMap<llvm::SmallVector<SourceLocation, 2>> Places;
};

//===-- What is looked at -------------------------------------------------===//

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

Unreached::Unreached(const UserFunctions &Functions, LibraryNames Library)
    : Functions(Functions), Library(Library) {
  for (const FunctionDecl *F : Functions.all()) {
    IsProgram |= F->isMain() && isInMainFile(F);
    IsWhole |= isInCompanion(F);
  }
}

Unreached::~Unreached() = default;

const Unreached::Words &Unreached::words() const {
  if (!All)
    All = std::make_unique<Words>(Functions,
                                  Functions.all().front()->getASTContext());
  return *All;
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
  if (isNeverNamed(F))
    return true;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && isNeverMade(Method->getParent());
}

//===-- Functions ---------------------------------------------------------===//

/// Something else than its name in a line of the program may run it.
static bool mayRunUnnamed(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return (Method && Method->isVirtual()) ||
         isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(F) ||
         F->isOverloadedOperator() || F->isTemplateInstantiation() ||
         F->getDescribedFunctionTemplate() || F->isDependentContext() ||
         F->isExternC() || F->hasAttr<UsedAttr>() ||
         F->hasAttr<ConstructorAttr>() || F->hasAttr<DestructorAttr>() ||
         F->hasAttr<VisibilityAttr>();
}

bool Unreached::isNeverNamed(const FunctionDecl *F) const {
  if (mayRunUnnamed(F) || !F->getIdentifier() || Library.Calls(F) ||
      !isOfProgram(F) || llvm::any_of(F->redecls(), [](const auto *Each) {
        return Each->isReferenced() || Each->isUsed(/*CheckUsedAttr=*/false);
      }))
    return false;
  return words().areAll(F->getName(), [&](SourceLocation Place) {
    return llvm::any_of(F->redecls(), [&](const FunctionDecl *Each) {
      return Each->getLocation() == Place;
    });
  });
}

//===-- Classes -----------------------------------------------------------===//

static bool isWithin(SourceLocation Place, SourceRange Range,
                     const SourceManager &SM) {
  return Range.isValid() &&
         SM.isPointWithin(Place, SM.getExpansionLoc(Range.getBegin()),
                          SM.getExpansionLoc(Range.getEnd()));
}

bool Unreached::isNeverMade(const CXXRecordDecl *Class) const {
  // Of a template, or of what is local to a function, much is made unseen.
  if (Class->isLambda() || !Class->getIdentifier() ||
      Class->isDependentContext() || !Class->hasDefinition() ||
      isa<ClassTemplateSpecializationDecl>(Class) || !isOfProgram(Class) ||
      llvm::any_of(Class->ctors(), [](const CXXConstructorDecl *Each) {
        return Each->isReferenced() || Each->isUsed(/*CheckUsedAttr=*/false);
      }))
    return false;
  const SourceManager &SM = sourcesOf(Class);
  const auto IsOwn = [&](SourceLocation Place) {
    for (const auto *Each : Class->redecls())
      if (isWithin(Place, Each->getSourceRange(), SM))
        return true;
    // Outside of the class: int Net::count, void Net::train() { .. }.
    for (const Decl *Member : Class->decls())
      for (const Decl *Each : Member->redecls())
        if (Each->isOutOfLine() && isWithin(Place, Each->getSourceRange(), SM))
          return true;
    return false;
  };
  return words().areAll(Class->getName(), IsOwn) &&
         words().areAll(Library.Stem(Class), IsOwn);
}

} // namespace torchtidy::flow

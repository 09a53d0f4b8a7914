#include "Doubts.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

class Doubts::Watcher : public PPCallbacks {
public:
  Watcher(Doubts &Owner, Preprocessor &PP)
      : Owner(Owner), PP(PP), SM(PP.getSourceManager()) {
    for (const std::string &Entry : Owner.Entries)
      if (OptionalFileEntryRef File =
              PP.getFileManager().getOptionalFileRef(Entry))
        Missing.insert(&File->getFileEntry());
      else
        Owner.doubt("'" + Entry + "' is not there");
  }

  void InclusionDirective(SourceLocation HashLoc, const Token &, StringRef,
                          bool, CharSourceRange, OptionalFileEntryRef File,
                          StringRef, StringRef, const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (Missing.empty() || !File || !Missing.erase(&File->getFileEntry()) ||
        !Missing.empty())
      return;
    Owner.Entered = HashLoc;
    for (const auto &[Name, Before] : Changed)
      if (!isSame(Before, PP.getMacroInfo(Name)))
        Owner.doubt("the headers before LibTorch's change '" + Name->getName() +
                    "', a name of LibTorch's headers");
  }

  // Before LibTorch is included: what its headers could have seen.
  void MacroDefined(const Token &Name, const MacroDirective *New) override {
    const MacroDirective *Old = New->getPrevious();
    const MacroDirective::DefInfo Before =
        Old ? const_cast<MacroDirective *>(Old)->getDefinition()
            : MacroDirective::DefInfo();
    changes(Name, "defines",
            Before && !Before.isUndefined() ? Before.getMacroInfo() : nullptr);
  }
  void MacroUndefined(const Token &Name, const MacroDefinition &Before,
                      const MacroDirective *) override {
    // What is not defined does not change.
    if (Before)
      changes(Name, "undefines", Before.getMacroInfo());
  }
  void PragmaDirective(SourceLocation Loc, PragmaIntroducerKind) override {
    if (Missing.empty() || !isUsers(Loc))
      return;
    const StringRef Line =
        StringRef(SM.getCharacterData(Loc)).take_until([](char C) {
          return C == '\n';
        });
    for (StringRef Harmless : {"once", "diagnostic", "region", "mark",
                               "message", "warning", "comment"})
      if (Line.contains(Harmless))
        return;
    Owner.doubt("a pragma stands before LibTorch's headers");
  }

  // Before LibTorch is included: what would not have been there to be asked.
  void Ifdef(SourceLocation Loc, const Token &Name,
             const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Ifndef(SourceLocation Loc, const Token &Name,
              const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Elifdef(SourceLocation Loc, const Token &Name,
               const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Elifndef(SourceLocation Loc, const Token &Name,
                const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Defined(const Token &Name, const MacroDefinition &Macro,
               SourceRange Range) override {
    asks(Range.getBegin(), Name, Macro);
  }
  void MacroExpands(const Token &Name, const MacroDefinition &Macro,
                    SourceRange Range, const MacroArgs *) override {
    asks(Range.getBegin(), Name, Macro);
  }

  void EndOfMainFile() override {
    if (!Missing.empty())
      Owner.doubt("LibTorch's headers are not included");
  }

private:
  bool isUsers(SourceLocation Loc) const {
    Loc = SM.getExpansionLoc(Loc);
    return Loc.isValid() && !SM.isWrittenInBuiltinFile(Loc) &&
           !SM.isWrittenInCommandLineFile(Loc) && !SM.isInSystemHeader(Loc);
  }

  void changes(const Token &Name, StringRef How, const MacroInfo *Before) {
    const SourceLocation Loc = Name.getLocation();
    if (Missing.empty() || SM.isWrittenInBuiltinFile(Loc) ||
        SM.isWrittenInCommandLineFile(Loc))
      return;
    const IdentifierInfo *Identifier = Name.getIdentifierInfo();
    if (!Identifier || !Identifier->isFromAST())
      return;
    if (isUsers(Loc))
      return Owner.doubt(How + " '" + Identifier->getName() +
                         "', a name of LibTorch's headers, before them");
    // Headers of the system that have no guard, or one that leaves something
    // out, do again what they did in the precompiled header: only what has
    // become of it in the end counts.
    Changed.try_emplace(Identifier, Before);
  }

  bool isSame(const MacroInfo *Before, const MacroInfo *Now) const {
    if (!Before || !Now)
      return Before == Now;
    return Before->isIdenticalTo(*Now, PP, /*Syntactically=*/true);
  }

  void asks(SourceLocation Loc, const Token &Name,
            const MacroDefinition &Macro) {
    if (Missing.empty() || !isUsers(Loc))
      return;
    const MacroInfo *Info = Macro.getMacroInfo();
    if (!Info || Info->isBuiltinMacro())
      return;
    const SourceLocation Defined = Info->getDefinitionLoc();
    if (!SM.isLoadedSourceLocation(Defined) ||
        SM.isWrittenInBuiltinFile(Defined) ||
        SM.isWrittenInCommandLineFile(Defined))
      return;
    Owner.doubt("asks for the macro '" + Name.getIdentifierInfo()->getName() +
                "' before the headers that define it");
  }

  Doubts &Owner;
  Preprocessor &PP;
  const SourceManager &SM;
  DenseSet<const FileEntry *> Missing;
  /// By headers of the system, and what they were in the precompiled header.
  MapVector<const IdentifierInfo *, const MacroInfo *> Changed;
};

void Doubts::watch(Preprocessor &PP) {
  PP.addPPCallbacks(std::make_unique<Watcher>(*this, PP));
}

namespace {

/// A generic lambda, or a member of one of the user's templates, that has no
/// instantiation: a skipped body may be what would have called it.
class Uninstantiated : public RecursiveASTVisitor<Uninstantiated> {
public:
  std::string Name;

  bool shouldVisitTemplateInstantiations() const { return false; }

  bool VisitLambdaExpr(LambdaExpr *Lambda) {
    const FunctionTemplateDecl *Call =
        Lambda->isGenericLambda()
            ? Lambda->getLambdaClass()->getDependentLambdaCallOperator()
            : nullptr;
    if (Call && !Lambda->getLambdaClass()->isDependentContext())
      check(Call, "a generic lambda");
    return Name.empty();
  }

  bool VisitFunctionTemplateDecl(FunctionTemplateDecl *Template) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Template->getTemplatedDecl());
    if (Method && !Method->getParent()->isDependentContext() &&
        Method->getParent()->getIdentifier())
      check(Template, "the template '" + Method->getNameAsString() + "'");
    return Name.empty();
  }

  bool VisitClassTemplateDecl(ClassTemplateDecl *Class) {
    // Of a class that is used, each method that is written out in it.
    for (const ClassTemplateSpecializationDecl *Used :
         Class->specializations()) {
      if (!Used->hasDefinition() || Used->isExplicitSpecialization())
        continue;
      for (const CXXMethodDecl *Method : Used->methods()) {
        const FunctionDecl *Pattern = Method->getTemplateInstantiationPattern();
        if (Pattern && Pattern->doesThisDeclarationHaveABody() &&
            !Method->isImplicit() && !Method->doesThisDeclarationHaveABody())
          Name = "the method '" + Method->getNameAsString() + "' of a template";
      }
    }
    return Name.empty();
  }

private:
  void check(const FunctionTemplateDecl *Template, const std::string &What) {
    for (const FunctionDecl *Instance : Template->specializations())
      if (Instance->hasBody())
        return;
    if (Template->getTemplatedDecl()->hasBody())
      Name = What;
  }
};

} // namespace

void Doubts::judge(ASTContext &Context, ArrayRef<Decl *> Scope) {
  const SourceManager &SM = Context.getSourceManager();
  Uninstantiated Search;
  for (Decl *D : Scope) {
    const SourceLocation Location = SM.getExpansionLoc(D->getLocation());
    if (Entered.isValid() && Location.isValid() && !D->isImplicit() &&
        SM.isBeforeInTranslationUnit(Location, Entered))
      return doubt("declarations stand before LibTorch's headers");
    Search.TraverseDecl(D);
    if (!Search.Name.empty())
      return doubt(Search.Name + " has no instantiation");
  }
}

} // namespace torchtidy::tool

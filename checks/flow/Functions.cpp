#include "flow/Functions.h"
#include "ast/TreeVisitor.h"
#include "clang/AST/ASTLambda.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::flow {

static bool hasUsableBody(const FunctionDecl *F) {
  return F->doesThisDeclarationHaveABody() && !F->hasSkippedBody() &&
         F->getBody() != nullptr;
}

/// Errors do not keep code from being looked at where it has a body: a
/// parameter of an unknown type makes its function invalid, a member of one its
/// class.
static bool isUsable(const Decl *D) {
  return !D->isInvalidDecl() || isa<FunctionDecl, FunctionTemplateDecl,
                                    CXXRecordDecl, ClassTemplateDecl>(D);
}

/// Walks declarations of user code; bodies are looked into for lambdas and
/// local classes only.
class UserFunctions::Collector {
public:
  explicit Collector(UserFunctions &Owner) : Owner(Owner) {}

  void visit(const Decl *D) {
    if (!D || !isUsable(D) || !Seen.insert(D).second)
      return;
    // Members of class templates are reached through the template, which knows
    // what is instantiated.
    if (isa<ClassTemplatePartialSpecializationDecl>(D) ||
        (isa<FunctionDecl, FunctionTemplateDecl>(D) && D->isOutOfLine() &&
         D->getDeclContext()->isDependentContext()))
      return;
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      return visitFunctionTemplate(Template);
    if (const auto *Template = dyn_cast<ClassTemplateDecl>(D))
      return visitClassTemplate(Template);
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      return visitFunction(F);
    if (const auto *V = dyn_cast<VarDecl>(D)) {
      if (const Expr *Init = V->getInit()) {
        Owner.Globals.push_back(V);
        // It may be a lambda.
        visitBody(Init);
      }
      return;
    }
    if (const auto *Friend = dyn_cast<FriendDecl>(D))
      return visit(Friend->getFriendDecl());
    if (const auto *Record = dyn_cast<CXXRecordDecl>(D)) {
      if (!Record->isThisDeclarationADefinition())
        return;
      for (const Decl *Member : Record->decls())
        visit(Member);
      return;
    }
    if (isa<NamespaceDecl, LinkageSpecDecl, ExportDecl>(D))
      for (const Decl *Member : cast<DeclContext>(D)->decls())
        visit(Member);
  }

private:
  void visitFunction(const FunctionDecl *F) {
    if (!hasUsableBody(F))
      return;
    // An implicit constructor runs the initializers of the members.
    const auto *Made = dyn_cast<CXXConstructorDecl>(F);
    if (F->isImplicit() &&
        !isLambdaCallOperator(static_cast<const DeclContext *>(F)) &&
        !(Made && Made->isDefaultConstructor()))
      return;
    Owner.Functions.push_back(F);
    visitBody(F->getBody());
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Constructor->inits())
        visitBody(Init->getInit());
  }

  void visitFunctionTemplate(const FunctionTemplateDecl *Template) {
    for (const FunctionDecl *Specialization : Template->specializations()) {
      // An explicit specialization is a function of its own.
      if (Specialization->getTemplateSpecializationKind() ==
          TSK_ExplicitSpecialization)
        continue;
      const FunctionDecl *Definition = nullptr;
      if (Specialization->isDefined(Definition) && hasUsableBody(Definition)) {
        visit(Definition);
        return;
      }
    }
    // A definition that follows a declaration shares its specializations.
    if (const FunctionDecl *Pattern =
            Template->getTemplatedDecl()->getDefinition())
      if (Seen.insert(Pattern).second)
        visitFunction(Pattern);
  }

  void visitClassTemplate(const ClassTemplateDecl *Template) {
    llvm::SmallPtrSet<const Decl *, 8> Instantiated;
    for (const ClassTemplateSpecializationDecl *Specialization :
         Template->specializations())
      if (Specialization->getSpecializationKind() != TSK_ExplicitSpecialization)
        visitInstantiation(Specialization, Instantiated);
    visitPattern(Template->getTemplatedDecl()->getDefinition(), Instantiated);
    SmallVector<ClassTemplatePartialSpecializationDecl *, 4> Partial;
    const_cast<ClassTemplateDecl *>(Template)->getPartialSpecializations(
        Partial);
    for (const ClassTemplatePartialSpecializationDecl *Record : Partial)
      visitPattern(Record->getDefinition(), Instantiated);
  }

  /// One instantiation of each member stands for all.
  void visitInstantiation(const CXXRecordDecl *Record,
                          llvm::SmallPtrSetImpl<const Decl *> &Instantiated) {
    for (const Decl *Member : Record->decls()) {
      if (const auto *F = dyn_cast<FunctionDecl>(Member)) {
        const FunctionDecl *Definition = nullptr;
        const FunctionDecl *Pattern = F->getTemplateInstantiationPattern();
        if (Pattern && F->isDefined(Definition) && hasUsableBody(Definition) &&
            Instantiated.insert(Pattern->getCanonicalDecl()).second)
          visit(Definition);
      } else if (const auto *Template =
                     dyn_cast<FunctionTemplateDecl>(Member)) {
        const FunctionTemplateDecl *Pattern =
            Template->getInstantiatedFromMemberTemplate();
        const bool IsUsed =
            llvm::any_of(Template->specializations(), hasUsableBody);
        if (Pattern && IsUsed &&
            Instantiated.insert(Pattern->getCanonicalDecl()).second)
          visitFunctionTemplate(Template);
      } else if (const auto *Inner = dyn_cast<CXXRecordDecl>(Member)) {
        if (const CXXRecordDecl *Definition = Inner->getDefinition();
            Definition && !Inner->isInjectedClassName())
          visitInstantiation(Definition, Instantiated);
      }
    }
  }

  /// What no instantiation stands for.
  void visitPattern(const CXXRecordDecl *Record,
                    const llvm::SmallPtrSetImpl<const Decl *> &Instantiated) {
    if (!Record)
      return;
    for (const Decl *Member : Record->decls()) {
      if (Instantiated.count(Member->getCanonicalDecl()))
        continue;
      if (const auto *F = dyn_cast<FunctionDecl>(Member)) {
        if (const FunctionDecl *Definition = F->getDefinition();
            Definition && Seen.insert(Definition).second)
          visitFunction(Definition);
      } else if (const auto *Template =
                     dyn_cast<FunctionTemplateDecl>(Member)) {
        visitFunctionTemplate(Template);
      } else if (const auto *Inner = dyn_cast<CXXRecordDecl>(Member);
                 Inner && !Inner->isInjectedClassName()) {
        visitPattern(Inner->getDefinition(), Instantiated);
      }
    }
  }

  void visitBody(const Stmt *Body) {
    struct Visitor : ast::TreeVisitor {
      Collector &Outer;
      explicit Visitor(Collector &Outer)
          : TreeVisitor(ImplicitCode), Outer(Outer) {}
      bool traverseLambda(LambdaExpr *Lambda) override {
        Outer.visitLambda(Lambda);
        for (Expr *Init : Lambda->capture_inits())
          traverseStmt(Init);
        return true;
      }
      bool visitDecl(Decl *D) override {
        const auto *Record = dyn_cast<CXXRecordDecl>(D);
        if (Record && !Record->isLambda())
          Outer.visit(Record);
        return true;
      }
    };
    Visitor(*this).traverseStmt(const_cast<Stmt *>(Body));
  }

  void visitLambda(const LambdaExpr *Lambda) {
    const CXXMethodDecl *Operator = Lambda->getCallOperator();
    if (!Operator)
      return;
    if (const FunctionTemplateDecl *Template =
            Operator->getDescribedFunctionTemplate()) {
      for (const FunctionDecl *Specialization : Template->specializations())
        Owner.Lambdas[Specialization] = Lambda;
      Owner.Lambdas[Operator] = Lambda;
      visitFunctionTemplate(Template);
      return;
    }
    Owner.Lambdas[Operator] = Lambda;
    visit(Operator);
  }

  UserFunctions &Owner;
  llvm::DenseSet<const Decl *> Seen;
};

UserFunctions::UserFunctions(ASTContext &Context, LibraryPath IsLibrary)
    : Context(Context), IsLibrary(IsLibrary) {
  Collector Collect(*this);
  auto Visit = [&](const Decl *D) {
    if (isUserCode(D->getLocation()))
      Collect.visit(D);
  };
  const std::vector<Decl *> Scope = Context.getTraversalScope();
  const bool IsWholeUnit =
      Scope.size() == 1 && isa<TranslationUnitDecl>(Scope.front());
  if (!IsWholeUnit) {
    for (const Decl *D : Scope)
      Visit(D);
    return;
  }
  // decls() would deserialise a precompiled header as a whole; what is loaded
  // already includes all that this file declares itself.
  for (const Decl *D : Context.getTranslationUnitDecl()->noload_decls())
    Visit(D);
}

const FunctionDecl *UserFunctions::definition(const FunctionDecl *F) const {
  const FunctionDecl *Definition = nullptr;
  if (!F || !F->isDefined(Definition) || !hasUsableBody(Definition))
    return nullptr;
  if (!isUserCode(Definition->getLocation()))
    return nullptr;
  return Definition;
}

bool UserFunctions::isUserCode(SourceLocation Location) const {
  if (Location.isInvalid())
    return false;
  const SourceManager &SM = Context.getSourceManager();
  // Code written by a macro belongs to the place that uses the macro.
  Location = SM.getExpansionLoc(Location);
  FileID File = SM.getFileID(Location);
  auto [It, Inserted] = UserFiles.try_emplace(File, false);
  if (Inserted)
    // Where several sources share what one of them has opened, that one is in
    // the list of files as well: nothing includes it.
    It->second =
        !SM.isInSystemHeader(Location) &&
        !IsLibrary(SM.getFilename(Location)) &&
        (File == SM.getMainFileID() || SM.getIncludeLoc(File).isValid());
  return It->second;
}

} // namespace torchtidy::flow

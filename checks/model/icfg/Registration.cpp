// Which members a class registers in its constructors and in what they call.
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/Supergraph.h"
#include "torch/Api.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

static bool holds(const Stmt *S, llvm::function_ref<bool(const Stmt *)> Is) {
  return ast::anyStmt(S, Is, ast::Lambdas::Enter);
}

static bool isRegistration(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  return Call && torch::isRegistration(torch::classify(Call).Kind);
}

/// A statement of a constructor that registers the member, whatever happens.
static bool registersMember(const Stmt *S, const FieldDecl *Member) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  return E && holds(E, isRegistration) && holds(E, [&](const Stmt *Part) {
           const auto *Named = dyn_cast<MemberExpr>(Part);
           return Named && Named->getMemberDecl() == Member;
         });
}

namespace {

/// Whether a body registers a member, itself or by the methods of the same
/// object that it calls: the reset() of torch::nn::Cloneable, a setup().
class RegistersMember {
public:
  RegistersMember(const flow::UserFunctions &Functions, const FieldDecl *Member)
      : Functions(Functions), Member(Member) {}

  /// Whatever happens: by a statement that is under no condition.
  bool always(const Stmt *Body) {
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
    return Block && llvm::any_of(Block->body(), [&](const Stmt *S) {
             const Stmt *Next = calledBody(S);
             return registersMember(S, Member) || (Next && always(Next));
           });
  }
  /// Anywhere in it.
  bool ever(const Stmt *Body) {
    return holds(Body, [&](const Stmt *S) {
      const Stmt *Next = calledBody(S);
      return registersMember(S, Member) || (Next && ever(Next));
    });
  }

private:
  /// The body of a method that S calls of this object; null the second time. In
  /// a constructor a virtual method is that of the class.
  const Stmt *calledBody(const Stmt *S) {
    const auto *E = dyn_cast<Expr>(S);
    const auto *Call = E ? dyn_cast<CXXMemberCallExpr>(ast::strip(E)) : nullptr;
    if (!Call || !isa<CXXThisExpr>(ast::strip(ast::objectOf(Call))))
      return nullptr;
    const FunctionDecl *Method = Functions.definition(Call->getMethodDecl());
    return Method && Seen.insert(Method).second ? Method->getBody() : nullptr;
  }

  const flow::UserFunctions &Functions;
  const FieldDecl *Member;
  llvm::SmallPtrSet<const FunctionDecl *, 4> Seen;
};

} // namespace

bool Code::isRegisteredByClass(const FieldDecl *Member) const {
  auto [It, Inserted] = RegisteredByClass.try_emplace(Member, false);
  if (!Inserted)
    return It->second;
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Class || Class->isDependentContext() || torch::isLibTorch(Class) ||
      torch::kindOf(Class) != TypeKind::Module)
    return false;
  auto InClass = [&] {
    const Expr *Init = Member->getInClassInitializer();
    return Init && holds(Init, isRegistration);
  };
  auto IsRegisteredIn = [&](const CXXConstructorDecl *Constructor) {
    for (const CXXCtorInitializer *Init : Constructor->inits()) {
      if (Init->isDelegatingInitializer())
        return true;
      if (Init->isAnyMemberInitializer() && Init->getAnyMember() == Member &&
          Init->isWritten() && Init->getInit())
        if (holds(Init->getInit(), isRegistration))
          return true;
    }
    return RegistersMember(Functions, Member).always(Constructor->getBody());
  };
  bool Result = InClass();
  if (!Result) {
    unsigned Seen = 0;
    Result = true;
    for (const CXXConstructorDecl *Constructor : Class->ctors()) {
      if (Constructor->isImplicit() || Constructor->isDeleted() ||
          Constructor->isCopyOrMoveConstructor())
        continue;
      const auto *Body = dyn_cast_or_null<CXXConstructorDecl>(
          Functions.definition(Constructor));
      Result &= Body && IsRegisteredIn(Body);
      ++Seen;
    }
    Result &= Seen > 0;
  }
  return RegisteredByClass[Member] = Result;
}

bool Code::mayBeRegisteredByClass(const FieldDecl *Member) const {
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  return Class && llvm::any_of(Class->ctors(), [&](const auto *Constructor) {
           const FunctionDecl *Body = Functions.definition(Constructor);
           return Body &&
                  RegistersMember(Functions, Member).ever(Body->getBody());
         });
}

} // namespace torchtidy::model

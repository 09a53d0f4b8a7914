#include "ast/Expressions.h"
#include "ast/TreeVisitor.h"
#include "ast/Walk.h"
#include "model/icfg/Constructors.h"
#include "model/icfg/HeldModules.h"
#include "model/icfg/StoredCallables.h"
#include "model/icfg/Supergraph.h"
#include "torch/Measurement.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// Whether a body mentions LibTorch.
class TorchMention : public ast::TreeVisitor {
public:
  TorchMention() : TreeVisitor(ImplicitCode) {}

  bool Found = false;

private:
  bool visitStmt(Stmt *S) override {
    const auto *E = dyn_cast<Expr>(S);
    if (!E)
      return true;
    if (!checkType(E->getType()))
      return false;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return check(Ref->getDecl());
    const auto *Member = dyn_cast<MemberExpr>(E);
    return !Member || checkMember(Member);
  }
  bool visitDecl(Decl *D) override {
    const auto *V = dyn_cast<VarDecl>(D);
    return !V || checkType(V->getType());
  }

  bool checkMember(const MemberExpr *Member) {
    // A container of tensors is one of the standard library.
    const QualType Type = Member->getType();
    Found |= isa<FieldDecl>(Member->getMemberDecl()) &&
             !Type->isDependentType() &&
             torch::kindOf(Type) == torch::TypeKind::Container &&
             torch::mayHoldTensor(Type);
    return check(Member->getMemberDecl());
  }
  bool check(const ValueDecl *D) {
    Found |= torch::isLibTorch(D);
    return !Found;
  }
  bool checkType(QualType Type) {
    if (Type.isNull() || Type->isDependentType())
      return true;
    const auto [Known, IsNew] =
        Mentions.try_emplace(Type.getCanonicalType().getTypePtr(), false);
    if (IsNew) {
      const CXXRecordDecl *Record = torch::recordOf(Type);
      // A class of the user's may be a module, and hold or point to one.
      Known->second =
          (Record && torch::isLibTorch(Record)) || torch::moduleClass(Type);
    }
    Found |= Known->second;
    return !Found;
  }

  llvm::DenseMap<const Type *, bool> Mentions;
};

} // namespace

Code::Code(ASTContext &Context)
    : Context(Context), Functions(Context, torch::isLibraryPath),
      Callables(std::make_unique<StoredCallables>(Functions)),
      Held(std::make_unique<HeldModules>(Functions)),
      Calls(Functions,
            [&](const CallExpr *Call,
                llvm::function_ref<void(const FunctionDecl *)> Found) {
              if (const CXXMethodDecl *Forward = torch::forwardRunBy(Call))
                Found(Forward);
              if (const FunctionDecl *Callee = Call->getDirectCallee();
                  Callee && torch::isStd(Callee) &&
                  torch::makesByConstructor(Callee))
                if (const CXXConstructorDecl *Constructor = constructorFor(
                        torch::recordOf(torch::pointee(Call->getType())),
                        ast::argumentsOf(Call)))
                  Found(Constructor);
              for (const FunctionDecl *Stored : Callables->calledBy(Call))
                Found(Stored);
              for (const ModuleChain &Chain : Held->runBy(nullptr, Call))
                for (unsigned I = 0; I < Chain.size(); ++I)
                  if (const CXXMethodDecl *Forward =
                          HeldModules::forwardOf(Call, Chain, I))
                    Found(Forward);
            }),
      Tests(Functions),
      Unreached(Functions, {torch::isCalledByTemplates, torch::layerName}) {
  TorchMention Mention;
  // Callees first: one pass suffices, except for recursive functions, which
  // need a second.
  for (unsigned Pass = 0; Pass < 2; ++Pass)
    for (const FunctionDecl *F : Calls.bottomUp()) {
      if (TorchFunctions.count(F))
        continue;
      bool Concerns =
          llvm::any_of(Calls.callees(F), [&](const FunctionDecl *G) {
            return TorchFunctions.count(G);
          });
      if (!Concerns) {
        Mention.Found = false;
        Mention.traverseStmt(F->getBody());
        if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
          for (const CXXCtorInitializer *Init : Constructor->inits())
            Mention.traverseStmt(Init->getInit());
        Concerns = Mention.Found;
      }
      if (Concerns)
        TorchFunctions.insert(F);
    }
}

Code::~Code() = default;

const flow::ControlFlow *Code::controlFlow(const FunctionDecl *F) {
  auto [It, Inserted] = Graphs.try_emplace(F, nullptr);
  if (Inserted)
    It->second = flow::ControlFlow::build(F, Context);
  return It->second.get();
}

bool Code::mentionsTorch(const FunctionDecl *F) const {
  return TorchFunctions.count(F);
}

/// Of a timer: the end of the scope that it measures is no call, so nothing
/// else says when the clock is read.
static bool endsTiming(const FunctionDecl *F) {
  return isa<CXXDestructorDecl>(F) && F->getBody() &&
         ast::anyStmt(
             F->getBody(),
             [](const Stmt *S) {
               const auto *Call = dyn_cast<CallExpr>(S);
               return Call && torch::readsClock(Call->getDirectCallee());
             },
             ast::Lambdas::Skip);
}

bool Code::concernsTorch(const FunctionDecl *F) const {
  // A second instantiation of a template has no summary of its own.
  if (TorchFunctions.count(F) || F->isTemplateInstantiation() || endsTiming(F))
    return true;
  // What it is given may be a tensor, or a callback that uses some.
  return llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
    const CXXRecordDecl *Record = torch::recordOf(P->getType());
    return !P->getType()->isDependentType() &&
           (torch::mayHoldTensor(P->getType()) ||
            (Record && Record->isLambda()));
  });
}

} // namespace torchtidy::model

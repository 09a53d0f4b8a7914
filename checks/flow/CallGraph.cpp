#include "flow/CallGraph.h"
#include "ast/TreeVisitor.h"

using namespace clang;

namespace torchtidy::flow {

namespace {

/// Finds what a body calls, constructs or mentions.
class References : public ast::TreeVisitor {
public:
  References(const UserFunctions &Functions, const Overriders &Overriding,
             IndirectCallees Indirect,
             llvm::function_ref<void(const FunctionDecl *)> Found)
      : TreeVisitor(ImplicitCode), Functions(Functions), Overriding(Overriding),
        Indirect(Indirect), Found(Found) {}

private:
  bool visitStmt(Stmt *S) override {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
      add(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(S))
      addMember(Member);
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
      add(Construct->getConstructor());
    else if (const auto *Call = dyn_cast<CallExpr>(S); Call && Indirect)
      Indirect(Call, [&](const FunctionDecl *F) { addMethod(F); });
    return true;
  }
  void addMember(const MemberExpr *Member) {
    // net->NetImpl::forward(x) is no virtual call.
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Member->getMemberDecl());
        Method && !Member->hasQualifier())
      addMethod(Method);
    add(Member->getMemberDecl());
  }
  bool traverseLambda(LambdaExpr *Lambda) override {
    // The lambda's own calls are its own; that it is written here makes this
    // function its caller.
    if (const CXXMethodDecl *Operator = Lambda->getCallOperator()) {
      add(Operator);
      if (const auto *Template = Operator->getDescribedFunctionTemplate())
        for (const FunctionDecl *Specialization : Template->specializations())
          add(Specialization);
    }
    for (Expr *Init : Lambda->capture_inits())
      traverseStmt(Init);
    return true;
  }
  void addMethod(const FunctionDecl *F) {
    add(F);
    if (const auto *Method = dyn_cast<CXXMethodDecl>(F))
      for (const CXXMethodDecl *Overrider : Overriding.of(Method))
        add(Overrider);
  }
  void add(const ValueDecl *D) {
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      if (const FunctionDecl *Definition = Functions.definition(F))
        Found(Definition);
  }

  const UserFunctions &Functions;
  const Overriders &Overriding;
  IndirectCallees Indirect;
  llvm::function_ref<void(const FunctionDecl *)> Found;
};

} // namespace

CallGraph::CallGraph(const UserFunctions &Functions, IndirectCallees Indirect)
    : Functions(Functions), Overriding(Functions) {
  for (const FunctionDecl *F : Functions.all())
    Nodes[F->getCanonicalDecl()] = Graph.addNode();
  SelfCalls.resize(Graph.size());
  for (const FunctionDecl *F : Functions.all()) {
    Digraph::Node Caller = *node(F);
    auto Add = [&](const FunctionDecl *Callee) {
      std::optional<Digraph::Node> Target = node(Callee);
      // Of a template one instantiation stands for all.
      if (!Target)
        if (const FunctionDecl *Pattern =
                Callee->getTemplateInstantiationPattern())
          for (const FunctionDecl *Other : Functions.all())
            if (const FunctionDecl *OtherPattern =
                    Other->getTemplateInstantiationPattern())
              if (OtherPattern->getCanonicalDecl() ==
                  Pattern->getCanonicalDecl())
                Target = node(Other);
      if (!Target)
        return;
      Graph.addEdge(Caller, *Target);
      if (*Target == Caller)
        SelfCalls.set(Caller);
    };
    References Finder(Functions, Overriding, Indirect, Add);
    Finder.traverseStmt(F->getBody());
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Constructor->inits())
        Finder.traverseStmt(Init->getInit());
  }
  Components = stronglyConnectedComponents(Graph);
}

std::optional<Digraph::Node> CallGraph::node(const FunctionDecl *F) const {
  auto It = Nodes.find(F->getCanonicalDecl());
  if (It == Nodes.end())
    return std::nullopt;
  return It->second;
}

std::vector<const FunctionDecl *> CallGraph::bottomUp() const {
  std::vector<const FunctionDecl *> Result;
  for (const std::vector<Digraph::Node> &Component : Components) {
    std::vector<Digraph::Node> Sorted = Component;
    llvm::sort(Sorted);
    for (Digraph::Node N : Sorted)
      Result.push_back(Functions.all()[N]);
  }
  return Result;
}

std::vector<const FunctionDecl *> CallGraph::roots() const {
  std::vector<const FunctionDecl *> Result;
  for (Digraph::Node N = 0; N < Graph.size(); ++N) {
    llvm::ArrayRef<Digraph::Node> Callers = Graph.predecessors(N);
    if (Callers.empty() || (Callers.size() == 1 && Callers.front() == N))
      Result.push_back(Functions.all()[N]);
  }
  return Result;
}

bool CallGraph::isRecursive(const FunctionDecl *F) const {
  std::optional<Digraph::Node> N = node(F);
  if (!N)
    return false;
  if (SelfCalls.test(*N))
    return true;
  for (const std::vector<Digraph::Node> &Component : Components)
    if (Component.size() > 1 && llvm::is_contained(Component, *N))
      return true;
  return false;
}

llvm::SmallVector<const FunctionDecl *, 4>
CallGraph::callers(const FunctionDecl *F) const {
  llvm::SmallVector<const FunctionDecl *, 4> Result;
  if (std::optional<Digraph::Node> N = node(F))
    for (Digraph::Node Caller : Graph.predecessors(*N))
      Result.push_back(Functions.all()[Caller]);
  return Result;
}

llvm::SmallVector<const FunctionDecl *, 4>
CallGraph::callees(const FunctionDecl *F) const {
  llvm::SmallVector<const FunctionDecl *, 4> Result;
  if (std::optional<Digraph::Node> N = node(F))
    for (Digraph::Node Callee : Graph.successors(*N))
      Result.push_back(Functions.all()[Callee]);
  return Result;
}

} // namespace torchtidy::flow

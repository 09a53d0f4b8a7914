#include "model/icfg/Supergraph.h"
#include "ast/Expressions.h"
#include "model/icfg/Constructors.h"
#include "model/icfg/Targets.h"
#include "clang/AST/ASTLambda.h"

using namespace clang;

namespace torchtidy::model {

Supergraph::Supergraph(Code &User, const FunctionDecl *Root, bool IsThread,
                       unsigned Depth)
    : User(User), Depth(Depth) {
  Frame *F = makeFrame(Root, nullptr, nullptr);
  F->IsThread = IsThread;
  RootFrame = F;
  Entry = addSegment({Segment::Enter, F});

  std::vector<flow::Digraph::Node> Starts = expandConstructors(F);
  if (Root->isMain())
    Starts = {expandGlobals(F)};
  Ends Body = expand(F);
  for (flow::Digraph::Node Start : Starts)
    Graph.addEdge(Start, Body.First);
}

Supergraph::Ends Supergraph::expandConstructor(Frame *Root,
                                               const FunctionDecl *Definition,
                                               const VarDecl *Constructed) {
  Frame *Made = makeFrame(Definition, Root, nullptr);
  Made->Arguments.assign(Definition->getNumParams(), nullptr);
  Made->Constructed = Constructed;
  return expand(Made);
}

// What they do (which parameters the optimizer has) is known in the method.
std::vector<flow::Digraph::Node> Supergraph::expandConstructors(Frame *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F->Function);
  std::vector<flow::Digraph::Node> Starts;
  if (Method && !isa<CXXConstructorDecl>(Method) && Method->isInstance() &&
      !Method->getParent()->isLambda()) {
    for (const CXXConstructorDecl *Constructor : Method->getParent()->ctors()) {
      if (Constructor->isCopyOrMoveConstructor())
        continue;
      const FunctionDecl *Definition = expandable(F, Constructor);
      if (!Definition)
        continue;
      const Ends Made = expandConstructor(F, Definition, nullptr);
      Graph.addEdge(Entry, Made.First);
      Starts.push_back(Made.Last);
    }
  }
  if (Starts.empty())
    Starts.push_back(Entry);
  return Starts;
}

flow::Digraph::Node Supergraph::expandGlobals(Frame *Main) {
  flow::Digraph::Node Last = Entry;
  for (const VarDecl *Global : User.functions().globals()) {
    const CXXConstructorDecl *Constructor = constructorOf(Global);
    const FunctionDecl *Definition =
        Constructor ? expandable(Main, Constructor) : nullptr;
    if (!Definition)
      continue;
    const Ends Made = expandConstructor(Main, Definition, Global);
    Graph.addEdge(Last, Made.First);
    Last = Made.Last;
  }
  return Last;
}

Frame *Supergraph::makeFrame(const FunctionDecl *Function, const Frame *Caller,
                             const Stmt *Site) {
  assert((Caller || !Site) && "only a caller has a call");
  auto F = std::make_unique<Frame>();
  F->Id = Frames.size();
  F->Function = Function;
  F->Flow = User.controlFlow(Function);
  F->Caller = Caller;
  F->Site = Site;
  F->Depth = Caller ? Caller->Depth + 1 : 0;
  Frames.push_back(std::move(F));
  Covered.insert(Function);
  return Frames.back().get();
}

flow::Digraph::Node Supergraph::addSegment(Segment S) {
  Segments.push_back(S);
  return Graph.addNode();
}

llvm::ArrayRef<const Frame *> Supergraph::expansions(const Frame *In,
                                                     const Stmt *Site) const {
  auto It = Expansions.find({In, Site});
  if (It == Expansions.end())
    return {};
  return It->second;
}

const Frame *Supergraph::owner(const Frame *F, const VarDecl *V) {
  const auto *Context = dyn_cast<FunctionDecl>(V->getDeclContext());
  if (!Context)
    return nullptr;
  for (const Frame *Around = F; Around; Around = Around->Caller)
    if (Around->Function->getCanonicalDecl() == Context->getCanonicalDecl())
      return Around;
  return nullptr;
}

Supergraph::Passed Supergraph::passed(const Frame *F,
                                      const ParmVarDecl *Parameter) {
  const Frame *To = owner(F, Parameter);
  const unsigned Index = Parameter->getFunctionScopeIndex();
  if (!To || !To->Caller || Index >= To->Arguments.size())
    return {};
  return {To, To->Arguments[Index]};
}

const Frame *Supergraph::lexical(const Frame *F) {
  while (F) {
    if (!isLambdaCallOperator(static_cast<const DeclContext *>(F->Function)))
      return F;
    const DeclContext *Context = F->Function->getParent()->getParent();
    const auto *Around = dyn_cast<FunctionDecl>(Context);
    F = F->Caller;
    while (Around && F &&
           F->Function->getCanonicalDecl() != Around->getCanonicalDecl())
      F = F->Caller;
    if (!Around)
      return nullptr;
  }
  return nullptr;
}

const Frame *Supergraph::sameClass(const Frame *F) {
  const DeclContext *Context = F->Function;
  while (Context && isLambdaCallOperator(Context))
    Context = Context->getParent()->getParent();
  const auto *Written = dyn_cast_or_null<CXXMethodDecl>(Context);
  const CXXRecordDecl *Class =
      Written ? Written->getParent() : dyn_cast_or_null<CXXRecordDecl>(Context);
  for (F = F->Caller; Class && F; F = F->Caller)
    if (const auto *Method = dyn_cast<CXXMethodDecl>(F->Function);
        Method &&
        Method->getParent()->getCanonicalDecl() == Class->getCanonicalDecl())
      return F;
  return nullptr;
}

/// What Block decides between two ways; null where it decides nothing, or
/// nothing that values or callers could tell: i < n.
static const Expr *decidedBy(const CFGBlock &Block) {
  if (Block.succ_size() != 2 ||
      !isa_and_nonnull<IfStmt, WhileStmt, ForStmt, DoStmt,
                       AbstractConditionalOperator, BinaryOperator>(
          Block.getTerminatorStmt()))
    return nullptr;
  const Expr *Condition = ast::strip(Block.getLastCondition());
  const auto *Binary = dyn_cast_or_null<BinaryOperator>(Condition);
  return Binary && !Binary->isEqualityOp() ? nullptr : Condition;
}

/// Adds the ways from a block, which ends at End.
void Supergraph::connect(Frame *F, const CFGBlock &From,
                         flow::Digraph::Node End,
                         const llvm::DenseMap<const CFGBlock *, Ends> &Blocks) {
  llvm::SmallVector<const CFGBlock *, 2> Ways;
  for (const CFGBlock::AdjacentBlock &Successor : From.succs())
    Ways.push_back(Successor.getReachableBlock());
  const Expr *Condition = decidedBy(From);
  if (Condition && Ways[0] == Ways[1])
    Condition = nullptr;
  for (const CFGBlock *Way : Ways) {
    if (!Way)
      continue;
    const flow::Digraph::Node First = Blocks.lookup(Way).First;
    const bool Holds = Way == Ways[0];
    if (!Condition) {
      Graph.addEdge(End, First);
    } else if (Way->pred_size() == 1) {
      Segments[First].Condition = Condition;
      Segments[First].Holds = Holds;
      Graph.addEdge(End, First);
    } else {
      const flow::Digraph::Node Branch =
          addSegment({Segment::Branch, F, nullptr, 0, 0, Condition, Holds});
      Graph.addEdge(End, Branch);
      Graph.addEdge(Branch, First);
    }
  }
}

Supergraph::Ends Supergraph::expand(Frame *F) {
  // Entering binds the parameters, leaving ends the activation.
  flow::Digraph::Node First = addSegment({Segment::Enter, F});
  flow::Digraph::Node Last = addSegment({Segment::Leave, F});
  F->LastId = F->Id;
  if (!F->Flow) {
    Graph.addEdge(First, Last);
    return {First, Last};
  }
  const CFG &Cfg = F->Flow->cfg();
  auto Expandable = [&](const FunctionDecl *Callee) {
    return expandable(F, Callee);
  };
  Resolver Resolve(User, F, Expandable);
  llvm::DenseMap<const CFGBlock *, Ends> Blocks;
  for (const CFGBlock *Block : Cfg) {
    Segment Current = {Segment::Elements, F, Block};
    flow::Digraph::Node Start = addSegment(Current), Node = Start;
    for (unsigned I = 0; I < Block->size(); ++I) {
      const std::vector<Target> Targets = Resolve.targets((*Block)[I]);
      if (Targets.empty())
        continue;
      Segments[Node].End = I;
      Node =
          expandTargets(F, Targets, Node, {Segment::Elements, F, Block, I, 0});
    }
    Segments[Node].End = Block->size();
    Blocks[Block] = {Start, Node};
  }
  F->LastId = Frames.size() - 1;
  for (const CFGBlock *Block : Cfg)
    connect(F, *Block, Blocks[Block].Last, Blocks);
  Graph.addEdge(First, Blocks[&Cfg.getEntry()].First);
  Graph.addEdge(Blocks[&Cfg.getExit()].Last, Last);
  return {First, Last};
}

/// The way from Before to a segment that begins as Next, which is returned.
flow::Digraph::Node Supergraph::expandTargets(Frame *F,
                                              llvm::ArrayRef<Target> Targets,
                                              flow::Digraph::Node Before,
                                              Segment Next) {
  const flow::Digraph::Node After = addSegment(Next);
  flow::Digraph::Node Last = Before;
  const Frame *Previous = nullptr;
  for (const Target &T : Targets) {
    Frame *Callee = makeFrame(T.Function, F, T.Site);
    assert(T.Arguments.size() <= T.Function->getNumParams() ||
           T.Function->isVariadic());
    Callee->Arguments = T.Arguments;
    Callee->Arguments.resize(T.Function->getNumParams(), nullptr);
    Callee->Object = T.Object;
    Callee->Callable = T.Callable;
    Callee->Range = T.Range;
    Callee->Destroyed = T.Destroyed;
    Callee->Link = T.Link;
    if (T.Link.Module && T.Follows)
      Callee->Link.Before = Previous;
    Previous = Callee;
    Callee->IsThread = T.IsThread;
    Callee->IsSpread = T.IsSpread;
    Expansions[{F, T.Site}].push_back(Callee);
    const Ends Body = expand(Callee);
    Graph.addEdge(T.Follows ? Last : Before, Body.First);
    Last = Body.Last;
    if (T.Repeats)
      Graph.addEdge(Body.Last, Body.First);
    if (T.Repeats || T.IsThread)
      Graph.addEdge(Before, After);
    if (&T == &Targets.back() || !std::next(&T)->Follows)
      Graph.addEdge(Body.Last, After);
  }
  return After;
}

const FunctionDecl *Supergraph::expandable(const Frame *F,
                                           const FunctionDecl *Callee) {
  const FunctionDecl *Definition = User.functions().definition(Callee);
  if (!Definition || !User.concernsTorch(Definition))
    return nullptr;
  if (F->Depth + 1 >= Depth || Segments.size() > MaxSegments) {
    Complete = false;
    return nullptr;
  }
  // A recursive call is opaque: its effects are those of the activation that is
  // already being looked at.
  for (const Frame *Around = F; Around; Around = Around->Caller)
    if (Around->Function == Definition)
      return nullptr;
  return User.controlFlow(Definition) ? Definition : nullptr;
}

} // namespace torchtidy::model

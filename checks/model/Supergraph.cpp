#include "model/Supergraph.h"
#include "flow/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::model {

const Expr *strip(const Expr *E) {
  while (E) {
    const Expr *Inner = E;
    if (const auto *P = dyn_cast<ParenExpr>(E))
      Inner = P->getSubExpr();
    else if (const auto *C = dyn_cast<FullExpr>(E))
      Inner = C->getSubExpr();
    else if (const auto *T = dyn_cast<MaterializeTemporaryExpr>(E))
      Inner = T->getSubExpr();
    else if (const auto *T = dyn_cast<CXXBindTemporaryExpr>(E))
      Inner = T->getSubExpr();
    else if (const auto *C = dyn_cast<CastExpr>(E))
      // The operand of a converting construction is that construction, and of a
      // conversion function its call: both are elements of their own.
      Inner = C->getSubExpr();
    else if (const auto *D = dyn_cast<CXXDefaultArgExpr>(E))
      Inner = D->getExpr();
    else if (const auto *D = dyn_cast<CXXDefaultInitExpr>(E))
      Inner = D->getExpr();
    else if (const auto *S = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      Inner = S->getReplacement();
    if (Inner == E)
      return E;
    E = Inner;
  }
  return E;
}

const Expr *stripCopies(const Expr *E) {
  for (E = strip(E); E;) {
    const auto *Construct = dyn_cast<CXXConstructExpr>(E);
    if (!Construct || Construct->getNumArgs() == 0 ||
        !llvm::all_of(llvm::drop_begin(Construct->arguments()),
                      llvm::IsaPred<CXXDefaultArgExpr>))
      break;
    E = strip(Construct->getArg(0));
  }
  return E;
}

/// What an element expands to.
struct Supergraph::Target {
  const FunctionDecl *Function = nullptr;
  llvm::SmallVector<const Expr *, 4> Arguments;
  const Expr *Object = nullptr;
  const Expr *Range = nullptr;
  const VarDecl *Destroyed = nullptr;
  const Stmt *Site = nullptr;
  bool IsThread = false;
  /// May run any number of times, or not at all.
  bool Repeats = false;
};

Supergraph::Supergraph(Code &Program, const FunctionDecl *Root, bool IsThread)
    : Program(Program) {
  Frame *F = makeFrame(Root, nullptr, nullptr);
  F->IsThread = IsThread;
  RootFrame = F;
  Entry = addSegment({Segment::Enter, F, nullptr, 0, 0});

  // The object of a root method was made by one of its constructors: what they
  // do (which parameters the optimizer has) is known in the method.
  std::vector<flow::Digraph::Node> Starts = {Entry};
  const auto *Method = dyn_cast<CXXMethodDecl>(Root);
  if (Method && !isa<CXXConstructorDecl>(Method) && Method->isInstance() &&
      !Method->getParent()->isLambda()) {
    for (const CXXConstructorDecl *Constructor : Method->getParent()->ctors()) {
      if (Constructor->isCopyOrMoveConstructor())
        continue;
      const FunctionDecl *Definition = expandable(F, Constructor);
      if (!Definition)
        continue;
      Frame *Made = makeFrame(Definition, F, nullptr);
      Made->Arguments.assign(Definition->getNumParams(), nullptr);
      Ends Expansion = expand(Made);
      Graph.addEdge(Entry, Expansion.First);
      if (Starts.front() == Entry)
        Starts.clear();
      Starts.push_back(Expansion.Last);
    }
  }
  Ends Body = expand(F);
  for (flow::Digraph::Node Start : Starts)
    Graph.addEdge(Start, Body.First);
}

Frame *Supergraph::makeFrame(const FunctionDecl *Function, const Frame *Caller,
                             const Stmt *Site) {
  auto F = std::make_unique<Frame>();
  F->Id = Frames.size();
  F->Function = Function;
  F->Flow = Program.controlFlow(Function);
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

const Frame *Supergraph::expansion(const Frame *In, const Stmt *Site) const {
  return Expansions.lookup({In, Site});
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

Supergraph::Ends Supergraph::expand(Frame *F) {
  // The way in binds the parameters, the way out ends the activation.
  flow::Digraph::Node First = addSegment({Segment::Enter, F, nullptr, 0, 0});
  flow::Digraph::Node Last = addSegment({Segment::Leave, F, nullptr, 0, 0});
  if (!F->Flow) {
    Graph.addEdge(First, Last);
    return {First, Last};
  }
  const CFG &Cfg = F->Flow->cfg();
  llvm::DenseMap<const CFGBlock *, Ends> Blocks;
  for (const CFGBlock *Block : Cfg) {
    Segment Current = {Segment::Elements, F, Block, 0, 0};
    flow::Digraph::Node Start = addSegment(Current), Node = Start;
    for (unsigned I = 0; I < Block->size(); ++I) {
      std::vector<Target> Targets = resolve(F, (*Block)[I]);
      if (Targets.empty())
        continue;
      Segments[Node].End = I;
      flow::Digraph::Node Before = Node;
      Node = addSegment({Segment::Elements, F, Block, I, 0});
      for (const Target &T : Targets) {
        Frame *Callee = makeFrame(T.Function, F, T.Site);
        Callee->Arguments = T.Arguments;
        Callee->Arguments.resize(T.Function->getNumParams(), nullptr);
        Callee->Object = T.Object;
        Callee->Range = T.Range;
        Callee->Destroyed = T.Destroyed;
        Callee->IsThread = T.IsThread;
        Expansions[{F, T.Site}] = Callee;
        Ends Body = expand(Callee);
        Graph.addEdge(Before, Body.First);
        Graph.addEdge(Body.Last, Node);
        if (T.Repeats) {
          Graph.addEdge(Body.Last, Body.First);
          Graph.addEdge(Before, Node);
        }
        if (T.IsThread)
          Graph.addEdge(Before, Node);
      }
    }
    Segments[Node].End = Block->size();
    Blocks[Block] = {Start, Node};
  }
  for (const CFGBlock *Block : Cfg)
    for (const CFGBlock::AdjacentBlock &Successor : Block->succs())
      if (const CFGBlock *Reachable = Successor.getReachableBlock())
        Graph.addEdge(Blocks[Block].Last, Blocks[Reachable].First);
  Graph.addEdge(First, Blocks[&Cfg.getEntry()].First);
  Graph.addEdge(Blocks[&Cfg.getExit()].Last, Last);
  return {First, Last};
}

const FunctionDecl *Supergraph::expandable(const Frame *F,
                                           const FunctionDecl *Callee) {
  const FunctionDecl *Definition = Program.functions().definition(Callee);
  if (!Definition || !Program.concernsTorch(Definition))
    return nullptr;
  if (F->Depth + 1 >= MaxDepth || Segments.size() > MaxSegments) {
    Complete = false;
    return nullptr;
  }
  // A recursive call is opaque: its effects are those of the activation that is
  // already being looked at.
  for (const Frame *Around = F; Around; Around = Around->Caller)
    if (Around->Function == Definition)
      return nullptr;
  return Program.controlFlow(Definition) ? Definition : nullptr;
}

std::vector<Supergraph::Target> Supergraph::resolve(const Frame *F,
                                                    const CFGElement &Element) {
  std::vector<Target> Targets;
  if (std::optional<CFGStmt> S = Element.getAs<CFGStmt>()) {
    if (const auto *Call = dyn_cast<CallExpr>(S->getStmt()))
      resolveCall(F, Call, Targets);
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S->getStmt()))
      resolveConstruction(F, Construct, Targets);
  } else if (std::optional<CFGAutomaticObjDtor> D =
                 Element.getAs<CFGAutomaticObjDtor>()) {
    const CXXDestructorDecl *Destructor =
        D->getDestructorDecl(Program.context());
    if (const FunctionDecl *Definition =
            Destructor ? expandable(F, Destructor) : nullptr) {
      Target T;
      T.Function = Definition;
      T.Destroyed = D->getVarDecl();
      T.Site = Definition->getBody();
      Targets.push_back(T);
    }
  }
  return Targets;
}

/// The functions of the standard library and of LibTorch that call what they
/// are given, by the position of the callable. -1: not one of them.
static int callableArgument(StringRef Name, bool &Repeats, bool &IsThread) {
  static const llvm::StringSet<> Algorithms = {
      "for_each",   "transform", "generate", "generate_n", "for_each_n",
      "accumulate", "all_of",    "any_of",   "none_of",    "find_if",
      "count_if",   "remove_if", "sort"};
  if (Algorithms.contains(Name)) {
    Repeats = true;
    return -2; // the last argument
  }
  if (Name == "call_once")
    return 1;
  if (Name == "invoke")
    return 0;
  if (Name == "async") {
    IsThread = true;
    return -3; // the first callable
  }
  // An optimizer's step(closure) calls it once, or a few times.
  if (Name == "launch" || Name == "step")
    return 0;
  if (Name == "parallel_for") {
    Repeats = true;
    return -2;
  }
  return -1;
}

void Supergraph::resolveCall(const Frame *F, const CallExpr *Call,
                             std::vector<Target> &Targets) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  llvm::SmallVector<const Expr *, 4> Arguments(Call->arg_begin(),
                                               Call->arg_end());
  Target T;
  T.Site = Call;
  if (!Callee) {
    // A pointer to a function, or a dependent call.
    if (resolveCallable(F, Call->getCallee(), Arguments, T))
      Targets.push_back(T);
    return;
  }
  if (const FunctionDecl *Definition = expandable(F, Callee)) {
    T.Function = Definition;
    T.Arguments = Arguments;
    const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      T.Object = Member->getImplicitObjectArgument();
    } else if (isa<CXXOperatorCallExpr>(Call) && Method && !Arguments.empty()) {
      T.Object = Arguments.front();
      T.Arguments.erase(T.Arguments.begin());
    }
    Targets.push_back(T);
    return;
  }
  if (isa<CXXOperatorCallExpr>(Call) &&
      Callee->getOverloadedOperator() == OO_Call && !Arguments.empty() &&
      torch::kindOf(Arguments.front()->getType()) ==
          torch::TypeKind::Callable) {
    if (resolveCallable(F, Arguments.front(),
                        llvm::ArrayRef(Arguments).drop_front(), T))
      Targets.push_back(T);
    return;
  }
  if (!torch::isStd(Callee) && !torch::isLibTorch(Callee))
    return;
  StringRef Name = flow::nameOf(Callee);
  if (Name == "make_shared" || Name == "make_unique") {
    // The constructor of the user's class: by the number of its parameters.
    QualType Made = torch::pointee(Call->getType());
    const CXXRecordDecl *Record = torch::recordOf(Made);
    const CXXRecordDecl *Class = Record ? Record->getDefinition() : nullptr;
    const FunctionDecl *Only = nullptr;
    if (Class)
      for (const CXXConstructorDecl *Constructor : Class->ctors())
        if (!Constructor->isCopyOrMoveConstructor() &&
            Constructor->getMinRequiredArguments() <= Arguments.size() &&
            Arguments.size() <= Constructor->getNumParams()) {
          if (Only)
            return;
          Only = Constructor;
        }
    if (const FunctionDecl *Definition = Only ? expandable(F, Only) : nullptr) {
      T.Function = Definition;
      T.Arguments = Arguments;
      Targets.push_back(T);
    }
    return;
  }
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
      Member && Name == "emplace_back" && !Arguments.empty() &&
      torch::kindOf(
          torch::elementType(Member->getImplicitObjectArgument()->getType())) ==
          torch::TypeKind::Thread) {
    T.IsThread = true;
    if (resolveCallable(F, Arguments.front(),
                        llvm::ArrayRef(Arguments).drop_front(), T))
      Targets.push_back(T);
    return;
  }
  int Position = callableArgument(Name, T.Repeats, T.IsThread);
  if (Position == -1)
    return;
  if (Position == -2)
    Position = static_cast<int>(Arguments.size()) - 1;
  if (Position == -3) {
    Position = 0;
    if (Arguments.size() > 1 && Arguments[0]->getType()->isEnumeralType())
      Position = 1;
  }
  if (Position < 0 || Position >= static_cast<int>(Arguments.size()))
    return;
  llvm::ArrayRef<const Expr *> Rest;
  if (T.Repeats && torch::isStd(Callee))
    T.Range = Arguments.front();
  else if (!T.Repeats)
    Rest = llvm::ArrayRef(Arguments).drop_front(Position + 1);
  if (resolveCallable(F, Arguments[Position], Rest, T))
    Targets.push_back(T);
}

void Supergraph::resolveConstruction(const Frame *F,
                                     const CXXConstructExpr *Construct,
                                     std::vector<Target> &Targets) {
  const CXXConstructorDecl *Constructor = Construct->getConstructor();
  llvm::SmallVector<const Expr *, 4> Arguments(Construct->arg_begin(),
                                               Construct->arg_end());
  Target T;
  T.Site = Construct;
  if (const FunctionDecl *Definition = expandable(F, Constructor)) {
    T.Function = Definition;
    T.Arguments = Arguments;
    Targets.push_back(T);
    return;
  }
  if (torch::kindOf(Constructor->getParent()) == torch::TypeKind::Thread &&
      !Constructor->isCopyOrMoveConstructor() && !Arguments.empty()) {
    T.IsThread = true;
    if (resolveCallable(F, Arguments.front(),
                        llvm::ArrayRef(Arguments).drop_front(), T))
      Targets.push_back(T);
  }
}

bool Supergraph::resolveCallable(const Frame *F, const Expr *Callable,
                                 llvm::ArrayRef<const Expr *> Arguments,
                                 Target &Result) {
  for (unsigned Hops = 0; Hops < 8; ++Hops) {
    Callable = strip(Callable);
    if (!Callable)
      return false;
    if (const auto *Lambda = dyn_cast<LambdaExpr>(Callable)) {
      const FunctionDecl *Operator = Lambda->getCallOperator();
      if (const FunctionTemplateDecl *Template =
              Operator->getDescribedFunctionTemplate())
        for (const FunctionDecl *Specialization : Template->specializations())
          Operator = Specialization;
      Result.Function = expandable(F, Operator);
      Result.Arguments.assign(Arguments.begin(), Arguments.end());
      return Result.Function;
    }
    if (const auto *Address = dyn_cast<UnaryOperator>(Callable)) {
      if (Address->getOpcode() != UO_AddrOf && Address->getOpcode() != UO_Deref)
        return false;
      Callable = Address->getSubExpr();
      continue;
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(Callable)) {
      // A copy, or a std::function made from what it calls.
      if (Construct->getNumArgs() == 0)
        return false;
      Callable = Construct->getArg(0);
      continue;
    }
    if (const auto *Call = dyn_cast<CallExpr>(Callable)) {
      // std::move, std::ref, std::forward.
      if (Call->getNumArgs() != 1 || !Call->getDirectCallee() ||
          !torch::isStd(Call->getDirectCallee()))
        return false;
      Callable = Call->getArg(0);
      continue;
    }
    const auto *Ref = dyn_cast<DeclRefExpr>(Callable);
    if (!Ref)
      return false;
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Ref->getDecl())) {
      Result.Function = expandable(F, Method);
      if (!Method->isStatic()) {
        if (Arguments.empty())
          return false;
        Result.Object = Arguments.front();
        Arguments = Arguments.drop_front();
      }
      Result.Arguments.assign(Arguments.begin(), Arguments.end());
      return Result.Function;
    }
    if (const auto *Function = dyn_cast<FunctionDecl>(Ref->getDecl())) {
      Result.Function = expandable(F, Function);
      Result.Arguments.assign(Arguments.begin(), Arguments.end());
      return Result.Function;
    }
    const auto *Variable = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Variable)
      return false;
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(Variable)) {
      const Frame *Owner = owner(F, Parameter);
      unsigned Index = Parameter->getFunctionScopeIndex();
      if (!Owner || !Owner->Caller || Index >= Owner->Arguments.size() ||
          !Owner->Arguments[Index])
        return false;
      // The argument is written in the caller, but what it leads to is looked
      // up by variable: the frames around F include the caller's.
      Callable = Owner->Arguments[Index];
      continue;
    }
    Callable = Variable->getAnyInitializer();
  }
  return false;
}

} // namespace torchtidy::model

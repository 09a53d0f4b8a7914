// The control flow of one entry of the program, with the calls of the user's
// functions expanded in place: a path of this graph is a path of the program,
// and a loop of it may run through any number of functions.
#ifndef TORCHTIDY_ICFG_SUPERGRAPH_H
#define TORCHTIDY_ICFG_SUPERGRAPH_H

#include "flow/CallGraph.h"
#include "flow/ControlFlow.h"
#include "flow/Functions.h"
#include "flow/Tests.h"
#include "flow/Unreached.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>
#include <set>

namespace torchtidy::model {

class HeldModules;
class StoredCallables;

/// What all executions of a translation unit share.
class Code {
public:
  explicit Code(clang::ASTContext &Context);
  ~Code();

  clang::ASTContext &context() const { return Context; }
  const flow::UserFunctions &functions() const { return Functions; }
  const flow::CallGraph &calls() const { return Calls; }
  const flow::Tests &tests() const { return Tests; }
  /// What the program, if this is one, never runs.
  const flow::Unreached &unreached() const { return Unreached; }
  /// What the file puts into variables and members that are called.
  const StoredCallables &callables() const { return *Callables; }
  /// What it puts into containers that run their modules.
  const HeldModules &heldModules() const { return *Held; }
  /// Null if the CFG cannot be built.
  const flow::ControlFlow *controlFlow(const clang::FunctionDecl *F);
  /// A summary, made bottom-up: F, or something that it calls, mentions
  /// LibTorch. Without that there is nothing to see from F on.
  bool mentionsTorch(const clang::FunctionDecl *F) const;
  /// That, or what F is given may. What does not concern LibTorch is never
  /// expanded.
  bool concernsTorch(const clang::FunctionDecl *F) const;
  /// Each constructor of its class registers the member: Registration.cpp.
  bool isRegisteredByClass(const clang::FieldDecl *Member) const;
  /// One of the constructors registers it.
  bool mayBeRegisteredByClass(const clang::FieldDecl *Member) const;

private:
  clang::ASTContext &Context;
  flow::UserFunctions Functions;
  std::unique_ptr<StoredCallables> Callables;
  std::unique_ptr<HeldModules> Held;
  flow::CallGraph Calls;
  flow::Tests Tests;
  flow::Unreached Unreached;
  llvm::DenseSet<const clang::FunctionDecl *> TorchFunctions;
  llvm::DenseMap<const clang::FunctionDecl *,
                 std::unique_ptr<flow::ControlFlow>>
      Graphs;
  mutable llvm::DenseMap<const clang::FieldDecl *, bool> RegisteredByClass;
};

struct Frame;

/// Of an activation of forward() that a Sequential or an AnyModule runs.
struct ChainLink {
  /// The module, where it was put in; null for other activations.
  const clang::Expr *Module = nullptr;
  /// The activation before it, which returns what it gets; null for the first.
  const Frame *Before = nullptr;
  /// The classes of modules that run between the two and are not seen; null
  /// where it is not known which.
  llvm::SmallVector<const clang::CXXRecordDecl *, 2> Unseen;
  /// The same of those that run behind the last activation of the chain.
  llvm::SmallVector<const clang::CXXRecordDecl *, 2> Behind;
  /// The call returns what it returns.
  bool IsLast = false;
};

/// One activation of a function: a call string with its bindings.
struct Frame {
  unsigned Id = 0;
  const clang::FunctionDecl *Function = nullptr;
  const flow::ControlFlow *Flow = nullptr;
  const Frame *Caller = nullptr;
  /// The call, in the caller; null at the root.
  const clang::Stmt *Site = nullptr;
  /// The arguments by parameter, in the caller; null where unknown.
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  /// The object of a method, in the caller; null where there is none or where
  /// the call makes it (constructors).
  const clang::Expr *Object = nullptr;
  /// What is called, in the caller, where that is a lambda that was stored: its
  /// captures are there.
  const clang::Expr *Callable = nullptr;
  /// The iterator whose elements the first parameter goes through, in the
  /// caller: std::for_each.
  const clang::Expr *Range = nullptr;
  /// The variable that a destructor ends.
  const clang::VarDecl *Destroyed = nullptr;
  /// The global variable that a constructor fills before main() begins.
  const clang::VarDecl *Constructed = nullptr;
  ChainLink Link;
  /// Runs in a thread of its own: grad mode starts at its default.
  bool IsThread = false;
  /// Some of its runs are in the threads of a pool, others in that of the
  /// caller: grad mode is that of one of them.
  bool IsSpread = false;
  unsigned Depth = 0;
  /// The highest Id of the activations that began in this one: theirs are all
  /// from Id to there.
  unsigned LastId = 0;

  bool isWithin(const Frame *Other) const {
    for (const Frame *F = this; F; F = F->Caller)
      if (F == Other)
        return true;
    return false;
  }
};

/// A run of elements of a block, the entry into an expanded call or the way
/// back from it.
struct Segment {
  /// Branch: the way from a condition to a block that others lead to as well;
  /// it has no elements and no block.
  enum Kind : uint8_t { Elements, Enter, Leave, Branch } Of = Elements;
  const Frame *In = nullptr;
  const clang::CFGBlock *Block = nullptr;
  unsigned Begin = 0, End = 0;
  /// What is decided where it begins, and how; null where nothing is that could
  /// be known.
  const clang::Expr *Condition = nullptr;
  bool Holds = false;
};

/// What an element of a control flow graph expands to.
struct Target;

class Supergraph {
public:
  static constexpr unsigned MaxDepth = 8;
  static constexpr unsigned MaxSegments = 20000;

  /// Root is expanded with, before it when it is a method whose object comes
  /// from elsewhere, the constructors of its class; before main(), those of the
  /// global variables. Depth: how many activations may lie on one another; 1 is
  /// the root alone.
  Supergraph(Code &User, const clang::FunctionDecl *Root, bool IsThread,
             unsigned Depth = MaxDepth);

  const flow::Digraph &graph() const { return Graph; }
  const Segment &segment(flow::Digraph::Node N) const { return Segments[N]; }
  flow::Digraph::Node entry() const { return Entry; }
  const Frame &root() const { return *RootFrame; }
  /// The activations that a call in a frame was expanded to: one, or one for
  /// each function that it may run (overriders, stored callables).
  llvm::ArrayRef<const Frame *> expansions(const Frame *In,
                                           const clang::Stmt *Site) const;
  /// The first of them, or null.
  const Frame *expansion(const Frame *In, const clang::Stmt *Site) const {
    const llvm::ArrayRef<const Frame *> All = expansions(In, Site);
    return All.empty() ? nullptr : All.front();
  }
  /// The frame around F that declares V, or null.
  static const Frame *owner(const Frame *F, const clang::VarDecl *V);
  /// What an activation was given for one of its parameters.
  struct Passed {
    /// The activation; the argument is written in its caller.
    const Frame *To = nullptr;
    /// Null where it is not known: at the root, in std::for_each.
    const clang::Expr *Argument = nullptr;
  };
  static Passed passed(const Frame *F, const clang::ParmVarDecl *Parameter);
  /// The frame around F in whose function F's lambda is written; F itself where
  /// it is none, null where that function is not running.
  static const Frame *lexical(const Frame *F);
  /// Of a lambda that was written in a method: the next frame around F of a
  /// method of that class, or null.
  static const Frame *sameClass(const Frame *F);
  /// False when the bound on the size was met: calls beyond it are opaque.
  bool isComplete() const { return Complete; }
  /// The functions that have an activation.
  const std::set<const clang::FunctionDecl *> &covered() const {
    return Covered;
  }
  const std::vector<std::unique_ptr<Frame>> &frames() const { return Frames; }

private:
  struct Ends {
    flow::Digraph::Node First, Last;
  };

  /// The constructors of the object that a root method works on, of which one
  /// has run. Returns where the body may begin.
  std::vector<flow::Digraph::Node> expandConstructors(Frame *F);
  /// Those of the global variables, in their order. Returns where main()
  /// begins.
  flow::Digraph::Node expandGlobals(Frame *Main);
  /// One that nothing in Root calls: its arguments are not known.
  Ends expandConstructor(Frame *Root, const clang::FunctionDecl *Definition,
                         const clang::VarDecl *Constructed);
  Ends expand(Frame *F);
  flow::Digraph::Node expandTargets(Frame *F, llvm::ArrayRef<Target> Targets,
                                    flow::Digraph::Node Before, Segment Next);
  /// The definition to expand where Callee is called in F; null where the call
  /// is to stay opaque.
  const clang::FunctionDecl *expandable(const Frame *F,
                                        const clang::FunctionDecl *Callee);
  Frame *makeFrame(const clang::FunctionDecl *Function, const Frame *Caller,
                   const clang::Stmt *Site);
  flow::Digraph::Node addSegment(Segment S);
  void connect(Frame *F, const clang::CFGBlock &From, flow::Digraph::Node End,
               const llvm::DenseMap<const clang::CFGBlock *, Ends> &Blocks);

  Code &User;
  const unsigned Depth;
  flow::Digraph Graph;
  std::vector<Segment> Segments;
  std::vector<std::unique_ptr<Frame>> Frames;
  llvm::DenseMap<std::pair<const Frame *, const clang::Stmt *>,
                 llvm::SmallVector<const Frame *, 1>>
      Expansions;
  std::set<const clang::FunctionDecl *> Covered;
  const Frame *RootFrame = nullptr;
  flow::Digraph::Node Entry = 0;
  bool Complete = true;
};

} // namespace torchtidy::model

#endif

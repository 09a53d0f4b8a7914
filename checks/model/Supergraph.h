// The control flow of one way into the program, with the calls of the user's
// functions expanded in place: a path of this graph is a path of the program,
// and a loop of it may run through any number of functions.
#ifndef TORCHTIDY_MODEL_SUPERGRAPH_H
#define TORCHTIDY_MODEL_SUPERGRAPH_H

#include "flow/CallGraph.h"
#include "flow/ControlFlow.h"
#include "flow/Functions.h"
#include "flow/Tests.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>
#include <set>

namespace torchtidy::model {

/// What all executions of a translation unit share.
class Code {
public:
  explicit Code(clang::ASTContext &Context);

  clang::ASTContext &context() const { return Context; }
  const flow::UserFunctions &functions() const { return Functions; }
  const flow::CallGraph &calls() const { return Calls; }
  const flow::Tests &tests() const { return Tests; }
  /// Null where there is no graph to be had.
  const flow::ControlFlow *controlFlow(const clang::FunctionDecl *F);
  /// A summary, made bottom-up: F, or something that it calls, mentions
  /// LibTorch. Without that there is nothing to see from F on.
  bool mentionsTorch(const clang::FunctionDecl *F) const;
  /// That, or what F is given may. What does not concern LibTorch is never
  /// expanded.
  bool concernsTorch(const clang::FunctionDecl *F) const;
  /// Each constructor of its class registers the member: Registering.cpp.
  bool isRegistered(const clang::FieldDecl *Member) const;

private:
  clang::ASTContext &Context;
  flow::UserFunctions Functions;
  flow::CallGraph Calls;
  flow::Tests Tests;
  llvm::DenseSet<const clang::FunctionDecl *> TorchFunctions;
  llvm::DenseMap<const clang::FunctionDecl *,
                 std::unique_ptr<flow::ControlFlow>>
      Graphs;
  mutable llvm::DenseMap<const clang::FieldDecl *, bool> Registered;
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
  /// The iterator whose elements the first parameter goes through, in the
  /// caller: std::for_each.
  const clang::Expr *Range = nullptr;
  /// The variable that a destructor ends.
  const clang::VarDecl *Destroyed = nullptr;
  /// Runs in a thread of its own: grad mode starts at its default.
  bool IsThread = false;
  unsigned Depth = 0;

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
  enum Kind : uint8_t { Elements, Enter, Leave } Of = Elements;
  const Frame *In = nullptr;
  const clang::CFGBlock *Block = nullptr;
  unsigned Begin = 0, End = 0;
};

class Supergraph {
public:
  static constexpr unsigned MaxDepth = 8;
  static constexpr unsigned MaxSegments = 20000;

  /// Root is expanded with, before it when it is a method whose object comes
  /// from elsewhere, the constructors of its class.
  Supergraph(Code &Program, const clang::FunctionDecl *Root, bool IsThread);

  const flow::Digraph &graph() const { return Graph; }
  const Segment &segment(flow::Digraph::Node N) const { return Segments[N]; }
  flow::Digraph::Node entry() const { return Entry; }
  const Frame &root() const { return *RootFrame; }
  /// The activation that a call in a frame was expanded to, or null.
  const Frame *expansion(const Frame *In, const clang::Stmt *Site) const;
  /// The frame around F that declares V, or null.
  static const Frame *owner(const Frame *F, const clang::VarDecl *V);
  /// False when the bound on the size was met: calls behind it are opaque.
  bool isComplete() const { return Complete; }
  /// The functions that have an activation.
  const std::set<const clang::FunctionDecl *> &covered() const {
    return Covered;
  }
  const std::vector<std::unique_ptr<Frame>> &frames() const { return Frames; }

private:
  struct Target;
  struct Ends {
    flow::Digraph::Node First, Last;
  };

  Ends expand(Frame *F);
  std::vector<Target> resolve(const Frame *F, const clang::CFGElement &Element);
  void resolveCall(const Frame *F, const clang::CallExpr *Call,
                   std::vector<Target> &Targets);
  void resolveConstruction(const Frame *F,
                           const clang::CXXConstructExpr *Construct,
                           std::vector<Target> &Targets);
  bool resolveCallable(const Frame *F, const clang::Expr *Callable,
                       llvm::ArrayRef<const clang::Expr *> Arguments,
                       Target &Result);
  const clang::FunctionDecl *expandable(const Frame *F,
                                        const clang::FunctionDecl *Callee);
  Frame *makeFrame(const clang::FunctionDecl *Function, const Frame *Caller,
                   const clang::Stmt *Site);
  flow::Digraph::Node addSegment(Segment S);

  Code &Program;
  flow::Digraph Graph;
  std::vector<Segment> Segments;
  std::vector<std::unique_ptr<Frame>> Frames;
  llvm::DenseMap<std::pair<const Frame *, const clang::Stmt *>, const Frame *>
      Expansions;
  std::set<const clang::FunctionDecl *> Covered;
  const Frame *RootFrame = nullptr;
  flow::Digraph::Node Entry = 0;
  bool Complete = true;
};

/// Sees through parentheses, casts that call nothing, temporaries and default
/// arguments.
const clang::Expr *strip(const clang::Expr *E);
/// That, and through constructions from one value: copies, conversions to
/// torch::Scalar, std::function.
const clang::Expr *stripCopies(const clang::Expr *E);

} // namespace torchtidy::model

#endif

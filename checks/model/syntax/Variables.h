// Variables as they are written in one function: what an expression names, and
// what may still be read of a variable.
//
// This folder is the syntactic engine. It looks at one function as it is
// written, its AST and, with flow/Ahead.h, its control flow, and knows nothing
// of values, callers or other functions than those that Effects has looked at.
// The other engine, Execution, runs the program on abstract values and leaves
// events. A query asks this one where the question is about text: which name is
// assigned to, whether a result is dropped, whether a call only computes
// (results/ ParameterCopy, results/DiscardedResult,
// modules/UnregisteredModule). It asks events where the question is what a
// value is and what becomes of it, and both where a finding of one needs a fact
// of the other: docs/architecture.md, "Two engines".
#ifndef TORCHTIDY_SYNTAX_VARIABLES_H
#define TORCHTIDY_SYNTAX_VARIABLES_H

#include "flow/Ahead.h"
#include "model/icfg/Supergraph.h"
#include <optional>

namespace torchtidy::model {

/// A variable, or the path from one to a part of it: x, batch.data, v[i],
/// this->state, net->parameters()[i].
struct Named {
  /// A VarDecl or BindingDecl; null for this, and for a temporary.
  const clang::ValueDecl *Variable = nullptr;
  /// The call whose result is the root; null for others.
  const clang::CallExpr *Temporary = nullptr;
  /// The member of the variable that the path begins with, or null.
  const clang::FieldDecl *Member = nullptr;
  /// The path goes through a pointer, a handle or an iterator: the object is
  /// not the variable's own.
  bool ThroughPointer = false;
  /// An element of a container or a part of a tuple is on the path.
  bool IsElement = false;

  bool isWhole() const { return !Member && !IsElement && !ThroughPointer; }
};

/// Nothing where E names no object that is known by a variable or a call.
std::optional<Named> namedVariable(const clang::Expr *E);

/// The assignment that gives the variable of Ref another value as a whole
/// (x = y, std::tie(x, z) = y), or null.
const clang::CallExpr *assignmentOf(const flow::ControlFlow &Flow,
                                    const clang::DeclRefExpr *Ref);

/// It assigns to a tensor that has a name, which makes it another handle. An
/// assignment to an rvalue (x[0] = y, x.data() = y) writes into the tensor.
bool isRebinding(const clang::CallExpr *Assignment);

/// V is a local variable, a parameter or a part of one that belongs to the
/// function itself, by value: not static, not captured.
bool isOwn(const clang::ValueDecl *V, const clang::FunctionDecl *Function);

/// V is a reference, or a part of what a reference leads to.
bool isReference(const clang::ValueDecl *V);

/// What may be met after a statement and concerns a variable.
class Readers {
public:
  Readers(const flow::ControlFlow &Flow, const clang::ValueDecl *V,
          const clang::FieldDecl *Member = nullptr)
      : Flow(Flow), V(V), Member(Member) {}

  /// Of an element of the control flow: Found where it reads the variable (or
  /// that member of it), Stop where the variable gets another value.
  flow::Met look(const clang::CFGElement &Element) const;
  bool reads(const clang::Stmt *S) const;

private:
  const flow::ControlFlow &Flow;
  const clang::ValueDecl *V;
  const clang::FieldDecl *Member;
};

/// The range of a range-for whose loop variable V is, or null.
const clang::CXXForRangeStmt *rangeLoopOf(const flow::ControlFlow &Flow,
                                          const clang::ValueDecl *V);

} // namespace torchtidy::model

#endif

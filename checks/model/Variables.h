// Variables as they are written in one function: what an expression names, and
// what may still be read of a variable.
#ifndef TORCHTIDY_MODEL_VARIABLES_H
#define TORCHTIDY_MODEL_VARIABLES_H

#include "flow/Ahead.h"
#include "model/Interpreter.h"
#include <optional>

namespace torchtidy::model {

/// A variable, or the way from one to a part of it: x, batch.data, v[i],
/// this->state, net->parameters()[i].
struct Named {
  /// A VarDecl or BindingDecl; null for this, and for a temporary.
  const clang::ValueDecl *Variable = nullptr;
  /// The call whose result is the root; null for others.
  const clang::CallExpr *Temporary = nullptr;
  /// The member of the variable that the way begins with, or null.
  const clang::FieldDecl *Member = nullptr;
  /// The way goes through a pointer, a handle or an iterator: the object is not
  /// the variable's own.
  bool ThroughPointer = false;
  /// An element of a container or a part of a tuple is on the way.
  bool IsElement = false;

  bool isWhole() const { return !Member && !IsElement && !ThroughPointer; }
};

/// Nothing where E names no object that is known by a variable or a call.
std::optional<Named> named(const clang::Expr *E);

/// OrderedDict<...>::Item: a pair of a name and a value.
bool isItem(const clang::CXXRecordDecl *Record);

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

/// What may be met behind a statement that concerns a variable.
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

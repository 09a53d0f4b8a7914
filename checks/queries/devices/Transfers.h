// What several queries ask of transfers: how they are written, and what is done
// with what they return.
#ifndef TORCHTIDY_QUERIES_DEVICES_TRANSFERS_H
#define TORCHTIDY_QUERIES_DEVICES_TRANSFERS_H

#include "model/execution/Execution.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::model {

/// Where it goes, the tensor is, or of that type: to() returns the tensor
/// itself.
bool isThereAlready(const TransferEvent &Transfer);

/// The copy may be on another device than the CPU.
inline bool mayLeaveCpu(const TransferEvent &Transfer) {
  return Transfer.MovesDevice && Transfer.Result.OnDevice.get() != Device::CPU;
}

/// The call of a member whose object E is, as x is of x.size(0); null where it
/// is none.
const clang::CXXMemberCallExpr *calledOn(const flow::ControlFlow &Flow,
                                         const clang::Expr *E);

/// The local variable that is declared with what Call returns, by value or as a
/// constant reference; null where it goes elsewhere.
const clang::VarDecl *declaredWith(const flow::ControlFlow &Flow,
                                   const clang::Expr *Call);

/// Where V is named in the function that declares it, in the order of the text.
llvm::SmallVector<const clang::DeclRefExpr *, 4>
mentionsOf(const flow::ControlFlow &Flow, const clang::VarDecl *V);

/// The next statement that names V after its declaration stands in the same
/// block, and there it is the object of Call: with nothing in between, Call is
/// made on what V is declared with. Call's result takes the place of V, or V is
/// not named again.
bool isNextUse(const flow::ControlFlow &Flow, const clang::VarDecl *V,
               const clang::CXXMemberCallExpr *Call);

/// What the object of a call was made by, and the variable in between, or null.
struct Chained {
  const clang::Expr *Source = nullptr;
  const clang::VarDecl *Variable = nullptr;
};
/// a().call(), or a variable that is declared with a() and next used by the
/// call (isNextUse). Nothing where another variable is the object.
std::optional<Chained> chainedTo(const flow::ControlFlow &Flow,
                                 const clang::CXXMemberCallExpr *Call);

/// A transfer may be asked for another type, by any of its arguments.
bool mayConvert(const clang::CallExpr *Call);

/// Once in the life of the program, or of an object: in no loop of main or of a
/// constructor, or where a condition asks whether something is there yet.
bool happensOnce(const Execution &Entry, const Event &E);

} // namespace torchtidy::model

#endif

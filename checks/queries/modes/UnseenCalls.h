// Functions of the program that cannot be seen, and what they may do to a mode
// of the thread.
#ifndef TORCHTIDY_QUERIES_MODES_UNSEENCALLS_H
#define TORCHTIDY_QUERIES_MODES_UNSEENCALLS_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// A function that cannot be seen may switch a mode of the thread: where it is
/// not known which one it is, where it is told something about modes or
/// LibTorch (but for a tensor), or nothing and gives nothing back. So may the
/// constructor of a class whose destructor cannot be seen either.
bool maySwitchMode(const Execution &Entry, const OpaqueEvent &E);

/// An object is made whose constructor, or destructor, may do so unseen.
bool mayBeModeGuard(const OpaqueEvent &E);
/// Such an object is there at A and gone at B: its scope is around A alone.
bool endsBetween(const OpaqueEvent &Guard, const Event &A, const Event &B);

/// What a class does when its objects are made, it may undo when they end: the
/// destructor that the class around F has, if F, or what leads to it, is a
/// constructor. Null where there is none that is written.
const clang::CXXDestructorDecl *undoingDestructor(const Frame *F);

/// The block at whose end the local variable ends that Made, in Around, makes;
/// null where it makes no such variable.
const clang::Stmt *scopeOfVariable(const Frame *Around,
                                   const clang::Expr *Made);

} // namespace torchtidy::model

#endif

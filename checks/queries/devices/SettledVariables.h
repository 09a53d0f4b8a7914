// Whether what names a device names the same one wherever it is read.
#ifndef TORCHTIDY_QUERIES_DEVICES_SETTLEDVARIABLES_H
#define TORCHTIDY_QUERIES_DEVICES_SETTLEDVARIABLES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// What E, a variable or a member, holds may be changed where it stands.
bool mayChangeHere(const flow::ControlFlow &Flow, const clang::Expr *E);

/// The variable or member at P, which function In or one of its callers names,
/// holds one value wherever it is read: all that changes it comes first, in the
/// order of the text, and in no loop; a global variable nobody changes.
bool isSettled(const Execution &Entry, PlaceId P, const Frame *In);

} // namespace torchtidy::model

#endif

// What a mode of a whole says of its parts. Modes are set by calls alone: see
// model/semantics/GradMode and Modules.
#ifndef TORCHTIDY_DOMAINS_MODES_TRANSFER_H
#define TORCHTIDY_DOMAINS_MODES_TRANSFER_H

#include "model/domains/Transfers.h"

namespace torchtidy::model {

class PlaceTable;

namespace modes {

/// Nothing: a child of a module has a mode of its own (Machine::moduleMode
/// looks at the modules around it).
void part(Machine &M, PlaceId P, Value &Part);
/// It may call eval() on a module that was not told how to run.
void given(Machine &M, PlaceId Object);
/// A constructor has made it, and a method begins: another may have called
/// eval() meanwhile.
void enterMethod(const PlaceTable &Places, PlaceId P, Value &Member);

} // namespace modes
} // namespace torchtidy::model

#endif

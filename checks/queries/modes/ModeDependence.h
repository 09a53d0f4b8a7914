// Which part of a module behaves otherwise in eval mode.
#ifndef TORCHTIDY_QUERIES_MODES_MODEDEPENDENCE_H
#define TORCHTIDY_QUERIES_MODES_MODEDEPENDENCE_H

#include "model/execution/Execution.h"
#include <string>

namespace torchtidy::model {

/// Something in modules that consist of Parts depends on train() and eval(): a
/// layer of LibTorch ("Dropout"), or "code under is_training()". Empty where
/// none is seen: whether a layer has a dropout that may have one (LSTM), and
/// what code in another file makes, is not known.
std::string modeDependentPart(const Execution &Entry, const PlaceSet &Parts);
/// The same of what a pass runs: also of the layers that the file has put into
/// a Sequential, wherever it has.
std::string modeDependentPart(const Execution &Entry, const ForwardEvent &Pass);

} // namespace torchtidy::model

#endif

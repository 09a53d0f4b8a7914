// Modules whose code is not seen and that may differentiate inside.
#ifndef TORCHTIDY_QUERIES_GRAPHS_INNERDERIVATIVES_H
#define TORCHTIDY_QUERIES_GRAPHS_INNERDERIVATIVES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

/// A forward pass of a TorchScript module: what it does inside is not in any
/// C++ file.
bool isUnseen(const ForwardEvent &Forward);
/// One of a module of the user's whose forward() lies in another file.
bool runsElsewhere(const Execution &Entry, const ForwardEvent &Forward);

/// Whether the code around the forward pass of an unseen module speaks for a
/// derivative that it returns, and for which it needs grad mode: forces as the
/// slope of an energy. By the names of variables, members and keys there, and,
/// of a TorchScript module, by inputs that are told to require a gradient.
bool mayDifferentiateInside(const Execution &Entry,
                            const ForwardEvent &Forward);

} // namespace torchtidy::model

#endif

// Query of torch-unregistered-module: modules that are registered in two places
// of one network.
#ifndef TORCHTIDY_QUERIES_MODULES_REGISTEREDINTWO_H
#define TORCHTIDY_QUERIES_MODULES_REGISTEREDINTWO_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A module that two modules of one network have, or one of them twice.
/// Module::parameters() goes through all of them and returns each parameter
/// twice, where Python's leaves the second out; an optimizer that is given them
/// takes each step twice (torch/csrc/api/src/nn/module.cpp, named_parameters;
/// tried with LibTorch 2.11.0).
struct RegisteredInTwo {
  const Execution *Entry = nullptr;
  const RegisterEvent *First = nullptr;
  const RegisterEvent *Again = nullptr;
  /// Where the one of the two is registered in the other, or both in a third;
  /// null where they are one.
  const RegisterEvent *Joins = nullptr;
  /// Further ones that come to be twice by Joins: who takes that away mends
  /// all.
  std::vector<const RegisterEvent *> AsWell;
};

/// Nothing is reported of modules without parameters, of what may be two
/// objects (elements, different iterations), where something is unregistered,
/// and where the two places lie in no common network that this file shows.
std::vector<RegisteredInTwo> registeredInTwo(Program &Program);

} // namespace torchtidy::model

#endif

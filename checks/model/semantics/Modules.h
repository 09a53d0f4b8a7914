// Modules: forward passes, train() and eval(), parameters, loading. Source:
// torch/csrc/api/include/torch/nn/module.h, torch/csrc/jit/api/module.h.
#ifndef TORCHTIDY_SEMANTICS_MODULES_H
#define TORCHTIDY_SEMANTICS_MODULES_H

#include "model/semantics/CallSite.h"
#include "torch/Modules.h"

namespace torchtidy::model {
namespace modules {

/// A module is run. Expanded: what its body has returned, where that was seen.
/// HandedOn: otherwise, what was seen of it has given to the rest.
Denotation forward(Machine &M, const CallSite &Site,
                   const std::optional<Denotation> &Expanded,
                   const Value &HandedOn = Value());
/// What an expanded call returns comes from operations that it has recorded,
/// not from what it was given alone.
bool recordsIn(Machine &M, const Denotation &Returned, const Frame *Expansion);

Denotation parameters(Machine &M, const CallSite &Site);
Denotation train(Machine &M, const CallSite &Site);
Denotation eval(Machine &M, const CallSite &Site);
/// torch::jit::load, and torch::load into an argument.
Denotation load(Machine &M, const CallSite &Site);
/// torch::jit::freeze, optimize_for_inference.
Denotation freeze(Machine &M, const CallSite &Site);
/// torch::nn::init::*.
Denotation initialize(Machine &M, const CallSite &Site);
/// What a member of a container of modules, of any module or of its holder
/// leads to: operator[], ptr(), as(), children(), begin().
Denotation part(Machine &M, const CallSite &Site, torch::PartAccess Access);
/// Members of modules, optimizers and schedulers that change nothing here; but
/// unregister_module() and push_back() of a ModuleList are among them.
Denotation otherMember(Machine &M, const CallSite &Site);

} // namespace modules
} // namespace torchtidy::model

#endif

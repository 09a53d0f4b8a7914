// The mutation operators: each lists the points of a program where it applies.
#ifndef TORCH_TIDY_MUTATION_OPERATORS_H
#define TORCH_TIDY_MUTATION_OPERATORS_H

#include "Program.h"

namespace torchtidy::mutation {

/// `zero-grad`: a statement that clears gradients goes.
void removeZeroGrad(const Program &Whole, std::vector<Mutation> &Out);
/// `guard`: a NoGradGuard or its like goes, where something is run under it.
void removeGuards(const Program &Whole, std::vector<Mutation> &Out);
/// `detach` and `state-detach`: a detach() goes where its result is stored for
/// longer than the iteration; of a recurrent state it is `state-detach`.
void removeDetach(const Program &Whole, std::vector<Mutation> &Out);
/// `item`: a number that is stored or summed becomes the tensor.
void removeItem(const Program &Whole, std::vector<Mutation> &Out);
/// `allocation` and `transfer`: what is made or copied before a loop moves into
/// it.
void moveIntoLoops(const Program &Whole, std::vector<Mutation> &Out);
/// `factory-device`: a factory that is told the device makes its tensor on the
/// CPU, and the tensor is moved behind it.
void moveAfterFactories(const Program &Whole, std::vector<Mutation> &Out);
/// `accessor`: elements are read by item() and written by tensor operations.
void replaceAccessors(const Program &Whole, std::vector<Mutation> &Out);
/// `cat`: what is collected in a vector and concatenated once grows in the
/// loop.
void concatenateInLoops(const Program &Whole, std::vector<Mutation> &Out);
/// `input-transfer`: what a module or a loss is given stays on the CPU.
/// `convert`: the type becomes wider before the transfer, not behind it.
/// `metadata`: a tensor is copied to the host and asked for its size there.
/// `non-blocking`: the host does not wait for a copy that it reads.
void changeTransfers(const Program &Whole, std::vector<Mutation> &Out);
/// `train`: a train() goes from a program that evaluates while it trains.
void removeTrain(const Program &Whole, std::vector<Mutation> &Out);
/// `guard-scope`: a guard lies on the heap, and nobody deletes it.
/// `guard-call`: it is a call that switches grad mode off for good.
void outliveScopes(const Program &Whole, std::vector<Mutation> &Out);
/// `step-order`: a step() moves before its backward().
void moveSteps(const Program &Whole, std::vector<Mutation> &Out);
/// `generator-detach`: what a module is given keeps its graph, where several
/// optimizers take steps.
void removeGeneratorDetach(const Program &Whole, std::vector<Mutation> &Out);
/// `capture`: a hook or a stored callback captures, by value, what holds it.
void captureHolders(const Program &Whole, std::vector<Mutation> &Out);

} // namespace torchtidy::mutation

#endif

// What part of the work a site belongs to, and what its memory is.
#include "profile/Parts.h"
#include <set>

namespace torchtidy::confirm {
namespace {

bool begins(const std::string &Text, const char *With) {
  return Text.rfind(With, 0) == 0;
}

/// Of the sites where the network's tensors have their memory from.
std::set<size_t> sitesOfNetwork(const Recording &Run) {
  std::set<size_t> Result;
  for (const NetworkTensor &Each : Run.Network)
    if (Each.Site)
      Result.insert(*Each.Site);
  return Result;
}

MemoryKind memoryOf(const Site &S, bool IsOfNetwork) {
  if (S.Operation == "backward")
    return MemoryKind::Gradients;
  if (begins(S.Operation, "step:"))
    return MemoryKind::OptimizerState;
  if (IsOfNetwork || S.LeavesTrained > 0)
    return MemoryKind::Parameters;
  return S.NodesMade > 0 ? MemoryKind::Activations : MemoryKind::Other;
}

/// Only while a network is made: LibTorch's initializers switch grad mode off.
bool isInitializer(const Site &S) {
  for (const char *Each :
       {"aten::uniform_", "aten::normal_", "aten::fill_", "aten::zero_"})
    if (S.Operation == Each)
      return true;
  return false;
}

bool runsWithoutGrad(const Site &S) { return 2 * S.HitsWithoutGrad > S.Hits; }

using Stack = std::vector<std::pair<std::string, unsigned>>;

Stack stackOf(const Site &S) {
  Stack Result;
  for (const SourceLine &Each : S.Stack)
    Result.emplace_back(Each.File, Each.Line);
  return Result;
}

/// Where networks are made.
std::set<Stack> stacksOfInitializers(const Recording &Run) {
  std::set<Stack> Result;
  for (const Site &Each : Run.Sites)
    if (isInitializer(Each) && runsWithoutGrad(Each) && Each.NodesMade == 0)
      Result.insert(stackOf(Each));
  return Result;
}

WorkPhase phaseOf(const Site &S, MemoryKind Memory,
                  const std::set<Stack> &Initializers) {
  if (Memory == MemoryKind::Gradients)
    return WorkPhase::Backward;
  if (Memory == MemoryKind::OptimizerState)
    return WorkPhase::Step;
  if (begins(S.Operation, "aten::") ||
      S.Operation.find("::") != std::string::npos) {
    if (Memory == MemoryKind::Parameters || isInitializer(S))
      return WorkPhase::Other;
    // The size of a kernel, which an initializer asks for.
    if (S.Operation == "aten::select" && Initializers.count(stackOf(S)))
      return WorkPhase::Other;
    if (runsWithoutGrad(S) || S.InEvaluation > S.InTraining)
      return WorkPhase::Evaluation;
    return S.NodesMade > 0 ? WorkPhase::Forward : WorkPhase::Data;
  }
  return WorkPhase::Other;
}

} // namespace

std::vector<SiteProfile> classify(const Recording &Run) {
  const std::set<size_t> OfNetwork = sitesOfNetwork(Run);
  const std::set<Stack> Initializers = stacksOfInitializers(Run);
  std::vector<SiteProfile> Result;
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    SiteProfile To;
    To.Memory = memoryOf(Run.Sites[I], OfNetwork.count(I) > 0);
    To.Phase = phaseOf(Run.Sites[I], To.Memory, Initializers);
    Result.push_back(To);
  }
  return Result;
}

} // namespace torchtidy::confirm

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
bool initializes(const Site &S) {
  for (const char *Each :
       {"aten::uniform_", "aten::normal_", "aten::fill_", "aten::zero_"})
    if (S.Operation == Each)
      return true;
  return false;
}

WorkPhase phaseOf(const Site &S, MemoryKind Memory) {
  if (Memory == MemoryKind::Gradients)
    return WorkPhase::Backward;
  if (Memory == MemoryKind::OptimizerState)
    return WorkPhase::Step;
  if (begins(S.Operation, "aten::") ||
      S.Operation.find("::") != std::string::npos) {
    if (Memory == MemoryKind::Parameters || initializes(S))
      return WorkPhase::Other;
    if (2 * S.HitsWithoutGrad > S.Hits || S.InEvaluation > S.InTraining)
      return WorkPhase::Evaluation;
    return S.NodesMade > 0 ? WorkPhase::Forward : WorkPhase::Data;
  }
  return WorkPhase::Other;
}

} // namespace

std::vector<SiteProfile> classify(const Recording &Run) {
  const std::set<size_t> OfNetwork = sitesOfNetwork(Run);
  std::vector<SiteProfile> Result;
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    SiteProfile To;
    To.Memory = memoryOf(Run.Sites[I], OfNetwork.count(I) > 0);
    To.Phase = phaseOf(Run.Sites[I], To.Memory);
    Result.push_back(To);
  }
  return Result;
}

} // namespace torchtidy::confirm

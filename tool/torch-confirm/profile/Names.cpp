#include "profile/Profile.h"

namespace torchtidy::confirm {

const char *nameOf(WorkPhase Of) {
  switch (Of) {
  case WorkPhase::Data:
    return "data";
  case WorkPhase::Forward:
    return "forward";
  case WorkPhase::Backward:
    return "backward";
  case WorkPhase::Step:
    return "step";
  case WorkPhase::Evaluation:
    return "evaluation";
  case WorkPhase::Other:
    break;
  }
  return "other";
}

const char *nameOf(MemoryKind Of) {
  switch (Of) {
  case MemoryKind::Parameters:
    return "parameters";
  case MemoryKind::Gradients:
    return "gradients";
  case MemoryKind::OptimizerState:
    return "optimizer state";
  case MemoryKind::Activations:
    return "activations";
  case MemoryKind::Other:
    break;
  }
  return "other";
}

} // namespace torchtidy::confirm

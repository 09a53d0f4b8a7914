#include "model/state/Event.h"

namespace torchtidy::model {

llvm::StringRef Event::name(Kind K) {
  switch (K) {
  case Forward:
    return "forward";
  case Backward:
    return "backward";
  case Grad:
    return "grad";
  case Inspect:
    return "inspect";
  case ReadGradient:
    return "read-gradient";
  case Hook:
    return "hook";
  case Store:
    return "store";
  case Release:
    return "release";
  case Step:
    return "step";
  case ZeroGrad:
    return "zero-grad";
  case ModeChange:
    return "mode-change";
  case GradModeChange:
    return "grad-mode-change";
  case Autocast:
    return "autocast";
  case Cast:
    return "cast";
  case HalfUse:
    return "half-use";
  case Load:
    return "load";
  case Create:
    return "create";
  case Escape:
    return "escape";
  case Allocate:
    return "allocate";
  case Transfer:
    return "transfer";
  case Meet:
    return "meet";
  case Write:
    return "write";
  case Combine:
    return "combine";
  case Chain:
    return "chain";
  case Rearrange:
    return "rearrange";
  case Mix:
    return "mix";
  case ScaleUse:
    return "scale-use";
  case Discard:
    return "discard";
  case AddParameters:
    return "add-parameters";
  case Register:
    return "register";
  case Replace:
    return "replace";
  case Borrow:
    return "borrow";
  case End:
    return "end";
  case Touch:
    return "touch";
  case Hold:
    return "hold";
  case Fill:
    return "fill";
  case DefaultDType:
    return "default-dtype";
  case Compare:
    return "compare";
  case ReadUnwaited:
    return "read-unwaited";
  case HostRead:
    return "host-read";
  case Wait:
    return "wait";
  case Compute:
    return "compute";
  case Keep:
    return "keep";
  case Opaque:
    return "opaque";
  }
  llvm_unreachable("not a kind of event");
}

} // namespace torchtidy::model

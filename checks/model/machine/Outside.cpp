#include "model/machine/Outside.h"

using namespace clang;

namespace torchtidy::model {

bool isFromOutside(const PlaceTable &Places, const Supergraph &Graph,
                   PlaceId P) {
  const PlaceId RootPlace = Places.rootOf(P);
  switch (Places.rootKind(RootPlace)) {
  case Root::This:
  case Root::Global:
  case Root::Outer:
    return true;
  case Root::Local:
    // A parameter of the root, or of a constructor that ran before it.
    return isa<ParmVarDecl>(Places.variable(RootPlace)) &&
           !Graph.frames()[Places.frame(RootPlace)]->Site;
  case Root::Object:
  case Root::Receiver:
  case Root::Background:
    return false;
  }
  llvm_unreachable("not a kind of root");
}

} // namespace torchtidy::model

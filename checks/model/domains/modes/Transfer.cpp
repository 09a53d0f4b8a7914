#include "model/domains/modes/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Types.h"

namespace torchtidy::model {

void modes::part(Machine & /*M*/, PlaceId /*P*/, Value &Part) { Part.Mode = 0; }

void modes::given(Machine &M, PlaceId Object) {
  const clang::QualType Type = M.places().knownType(Object);
  if (!Type.isNull() && torch::isModule(Type) &&
      M.moduleMode(Object) == mode::On)
    M.state().Places[Object].Mode = mode::On | mode::Off;
}

void modes::enterMethod(const PlaceTable &Places, PlaceId P, Value &Member) {
  const clang::QualType Type = Places.knownType(P);
  if (!Type.isNull() && torch::isModule(Type) && !Member.Mode)
    Member.Mode = mode::Inherited;
}

} // namespace torchtidy::model

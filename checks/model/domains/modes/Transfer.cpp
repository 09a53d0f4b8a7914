#include "model/domains/modes/Transfer.h"

namespace torchtidy::model {

void modes::part(Machine & /*M*/, PlaceId /*P*/, Value &Part) { Part.Mode = 0; }

} // namespace torchtidy::model

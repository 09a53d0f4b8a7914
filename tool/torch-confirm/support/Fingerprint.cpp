#include "support/Fingerprint.h"
#include <sstream>

namespace torchtidy::confirm {

std::string Fingerprint::text() const {
  std::ostringstream Out;
  Out << std::hex << First << Second;
  return Out.str();
}

} // namespace torchtidy::confirm

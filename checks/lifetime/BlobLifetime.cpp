#include "lifetime/BlobLifetime.h"

namespace torchtidy::model {

std::vector<OutlivedLoan> outlivedBlobs(Program &Program) {
  return outlivedLoans(Program, isBlob);
}

} // namespace torchtidy::model

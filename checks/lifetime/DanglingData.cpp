#include "lifetime/DanglingData.h"

namespace torchtidy::model {

std::vector<OutlivedLoan> outlivedViews(Program &Program) {
  return outlivedLoans(Program,
                       [](const Loan &Taken) { return !isBlob(Taken); });
}

} // namespace torchtidy::model

// The parts of a report that JSON and SARIF share.
#ifndef TORCHTIDY_CONFIRM_REPORT_JSON_H
#define TORCHTIDY_CONFIRM_REPORT_JSON_H

#include "recording/Recording.h"
#include "rules/Verdict.h"
#include <nlohmann/json.hpp>

namespace torchtidy::confirm {

nlohmann::ordered_json toJson(const Verdict &V);
nlohmann::ordered_json programJson(const Recording &Run);

} // namespace torchtidy::confirm

#endif

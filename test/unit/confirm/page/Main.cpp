// report-page REPORT PAGE [DATA]: makes the page of a report that is there as
// JSON.
#include "export/Page.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <exception>
#include <iostream>

using namespace torchtidy::confirm;

int main(int Count, char **Words) {
  if (Count != 3 && Count != 4) {
    std::cerr << "report-page REPORT PAGE [DATA]\n";
    return ExitError;
  }
  try {
    const auto Report = nlohmann::ordered_json::parse(readFile(Words[1]));
    writeFile(Words[2], pageOf(Report, Count == 4 ? Words[3] : dataFolder()));
  } catch (const std::exception &Error) {
    std::cerr << "report-page: error: " << Error.what() << '\n';
    return ExitError;
  }
  return ExitSuccess;
}

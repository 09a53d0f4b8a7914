// Finds data sets with their data by value that are copied for each worker of a
// data loader, or in every iteration of a loop.
#include "memory/DatasetCopiedCheck.h"
#include "ast/Locations.h"
#include "ast/Names.h"
#include "memory/DatasetCopied.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program & /*Program*/,
                        const DatasetCopied &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Loader);
  Result.Range = Found.Loader->getSourceRange();
  Result.Kind = FindingKind::DatasetCopied;
  const std::string Data = "'" + Found.Data->getNameAsString() + "'";
  Result.Message = "'" + ast::nameOf(Found.Dataset).str() + "' has " + Data +
                   " by value, and ";
  if (Found.Parameter)
    Result.Message += "a loop gives a copy of all of it to this parameter, "
                      "which is only read; take it by reference to const";
  else if (Found.Around)
    Result.Message += "this copies all of it in every iteration; hold " + Data +
                      " in a 'std::shared_ptr', or make the loader once before "
                      "the loop";
  else
    Result.Message += "each of the " + std::to_string(Found.Workers) +
                      " workers of this data loader gets a copy of its own; "
                      "hold " +
                      Data + " in a 'std::shared_ptr'";
  if (Found.Parameter) {
    Result.Location = Found.Parameter->getLocation();
    Result.Range = Found.Parameter->getSourceRange();
  }
  if (Found.Around)
    addLoop(Result, *Found.Entry, Found.In, Found.Around);
  Result.Notes.push_back({Found.Data->getLocation(), "this is what is copied",
                          NoteRole::Declared});
  return Result;
}

std::vector<Finding> DatasetCopiedCheck::analyze(Program &Program) {
  return findingsOf(Program, findDatasetCopied, describe);
}

} // namespace torchtidy::checks

// Finds submodules and parameters that forward() uses and the module never
// registers, and names that are registered twice.
#include "modules/UnregisteredModuleCheck.h"
#include "model/Edit.h"
#include "model/Registration.h"
#include "model/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program,
                        const UnregisteredMember &Found) {
  const clang::ASTContext &Context = Program.context();
  const std::string Name = Found.Member->getNameAsString();
  const bool IsParameter = Found.What == UnregisteredMember::Parameter;
  const std::string Register =
      IsParameter ? "register_parameter" : "register_module";
  Finding Result;
  if (Found.Assignment) {
    Result.Location = Found.Assignment->getBeginLoc();
    Result.Range = Found.Assignment->getSourceRange();
  } else {
    Result.Location = Found.Member->getLocation();
    Result.Range = Found.Member->getSourceRange();
  }
  const std::string Tail =
      "; register it: '" + Register + "(\"" + Name + "\", ...)'";
  switch (Found.What) {
  case UnregisteredMember::Submodule:
    Result.Message = "submodule '" + Name +
                     "' is never registered: parameters(), to(), train() and "
                     "save() do not reach it" +
                     Tail;
    break;
  case UnregisteredMember::ModeOnly:
    Result.Message = "submodule '" + Name +
                     "' is never registered: eval() does not reach it, so it "
                     "stays in training mode" +
                     Tail;
    break;
  case UnregisteredMember::Parameter:
    Result.Message = "parameter '" + Name +
                     "' is never registered: parameters(), to() and save() do "
                     "not reach it" +
                     Tail;
    break;
  }
  Result.Notes.push_back(
      {Found.Used->getBeginLoc(), "it is used in forward() here"});
  Result.Fixes =
      passThrough(Context, Found.Made, Register + "(\"" + Name + "\", ",
                  Found.Member->getType());
  return Result;
}

static Finding describe(const RepeatedName &Found) {
  const Event &Again = *Found.Again;
  Finding Result;
  Result.Location = Again.Site->getBeginLoc();
  Result.Range = Again.Site->getSourceRange();
  Result.Message = "the name '" + Found.Name.str() +
                   "' is registered again in the same module, which throws; "
                   "give each a name of its own";
  if (Found.First != Found.Again)
    Result.Notes.push_back(
        {Found.First->Site->getBeginLoc(), "it is registered here first"});
  else if (auto Loops = Found.Way->loopsAround(Again.Point); !Loops.empty())
    addLoop(Result, *Found.Way, Again.In, Loops.back());
  return Result;
}

std::vector<Finding> UnregisteredModuleCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const UnregisteredMember &Found : unregisteredMembers(Program))
    addUnlessKnown(Findings, describe(Program, Found));
  for (const RepeatedName &Found : repeatedNames(Program))
    addUnlessKnown(Findings, describe(Found));
  return Findings;
}

} // namespace torchtidy::checks

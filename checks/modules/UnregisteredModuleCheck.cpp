// Finds submodules and parameters that forward() uses and the module never
// registers, and names that are registered twice.
#include "modules/UnregisteredModuleCheck.h"
#include "ast/Expressions.h"
#include "modules/UnregisteredModule.h"
#include "queries/modules/RegisteredInTwo.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Modules.h"
#include "torch/Types.h"

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
  // Of several modules: register_module() takes one.
  const clang::QualType Type = Found.Member->getType();
  if (!IsParameter && !torch::moduleClass(Type)) {
    Result.Kind = Found.What == UnregisteredMember::ModeOnly
                      ? FindingKind::UnregisteredModeOnly
                      : FindingKind::UnregisteredSubmodule;
    Result.Message =
        "the modules in '" + Name + "' are never registered: " +
        (Found.What == UnregisteredMember::ModeOnly
             ? "eval() does not reach them, so they stay in training mode"
             : "no optimizer trains them, and to(), train() and save() do not "
               "reach them") +
        "; make '" + Name + "' a '" + torch::moduleListFor(Type).str() +
        "', or call 'register_module()' for each of them";
    if (Found.Assignment)
      addNote(Result, {Found.Member->getLocation(),
                       "the member is declared here", NoteRole::Declared});
    Result.Notes.push_back({Found.Used->getBeginLoc(),
                            "it is used in forward() here", NoteRole::Read});
    return Result;
  }
  switch (Found.What) {
  case UnregisteredMember::Submodule:
    Result.Kind = FindingKind::UnregisteredSubmodule;
    Result.Message = "submodule '" + Name +
                     "' is never registered: parameters(), to(), train() and "
                     "save() do not reach it" +
                     Tail;
    break;
  case UnregisteredMember::ModeOnly:
    Result.Kind = FindingKind::UnregisteredModeOnly;
    Result.Message = "submodule '" + Name +
                     "' is never registered: eval() does not reach it, so it "
                     "stays in training mode" +
                     Tail;
    break;
  case UnregisteredMember::Parameter:
    Result.Kind = FindingKind::UnregisteredParameter;
    Result.Message = "parameter '" + Name +
                     "' is never registered: parameters(), to() and save() do "
                     "not reach it" +
                     Tail;
    break;
  }
  Result.Notes.push_back({Found.Used->getBeginLoc(),
                          "it is used in forward() here", NoteRole::Read});
  Result.Fixes =
      passThrough(Context, Found.Made, Register + "(\"" + Name + "\", ",
                  Found.Member->getType());
  return Result;
}

static Finding describe(const Program &, const RepeatedName &Found) {
  const RegisterEvent &Again = *Found.Again;
  Finding Result;
  Result.Location = Again.Site->getBeginLoc();
  Result.Range = Again.Site->getSourceRange();
  Result.Kind = FindingKind::RegisteredTwice;
  Result.Message = "the name '" + Found.Name.str() +
                   "' is registered again in the same module, which throws; "
                   "give each a name of its own";
  if (Found.First != Found.Again)
    Result.Notes.push_back({Found.First->Site->getBeginLoc(),
                            "it is registered here first",
                            NoteRole::Registered});
  else if (auto Loops = Found.Entry->loopsAround(Again.Point); !Loops.empty())
    addLoop(Result, *Found.Entry, Again.In, Loops.back());
  return Result;
}

static Finding describe(const Program &Program, const RegisteredInTwo &Found) {
  const RegisterEvent &Again = *Found.Again;
  Finding Result;
  Result.Location = Again.Site->getBeginLoc();
  Result.Range = Again.Site->getSourceRange();
  Result.Kind = FindingKind::RegisteredInTwo;
  const std::string Name =
      plainName(Program.context(), ast::stripCopies(Again.Operand));
  Result.Message =
      (Name.empty() ? std::string("this module") : "'" + Name + "'") +
      " is registered a second time: parameters() returns each of its "
      "parameters twice, so that every step() of an optimizer moves them twice "
      "and save() writes them twice; register it in one place only";
  addNote(Result, {Found.First->Site->getBeginLoc(),
                   "it is registered here first", NoteRole::Registered});
  if (Found.Joins)
    addNote(Result, {Found.Joins->Site->getBeginLoc(),
                     "this makes the two places parts of one network",
                     NoteRole::Registered});
  for (const RegisterEvent *Other : Found.AsWell)
    addNote(Result, {Other->Site->getBeginLoc(), "and here", NoteRole::AsWell});
  return Result;
}

std::vector<Finding> UnregisteredModuleCheck::analyze(Program &Program) {
  std::vector<Finding> Findings =
      findingsOf(Program, unregisteredMembers, describe);
  llvm::append_range(Findings, findingsOf(Program, repeatedNames, describe));
  llvm::append_range(Findings, findingsOf(Program, registeredInTwo, describe));
  return Findings;
}

} // namespace torchtidy::checks

// Finds registered parameters, buffers and submodules that get another tensor
// or module by assignment.
#include "modules/ReassignedMemberCheck.h"
#include "model/Edit.h"
#include "model/Registration.h"
#include "model/Report.h"

namespace torchtidy::checks {

using namespace model;

static std::string message(const ReassignedMember &Found,
                           const std::string &Name) {
  const std::string Member = Name.empty() ? "this member" : "'" + Name + "'";
  switch (Found.What) {
  case ReassignedMember::Tensor:
    return Member + " is bound to a tensor that is not registered: forward() "
                    "uses this one, while parameters(), save() and to() keep "
                    "the old one; write into it with 'set_data()'";
  case ReassignedMember::Buffer:
    return Member + " is bound to a tensor that is not registered: forward() "
                    "uses this one, while save(), to() and buffers() keep the "
                    "old one; write into it with 'set_data()'";
  case ReassignedMember::Module:
    return Member + " is bound to a module that is not registered: forward() "
                    "runs this one, while parameters(), save(), to() and "
                    "train() keep the old one; use 'replace_module()'";
  }
  return "";
}

static Finding describe(const Program &Program, const ReassignedMember &Found) {
  const clang::ASTContext &Context = Program.context();
  const Event &Replace = *Found.Replace;
  Finding Result;
  Result.Location = Replace.Site->getBeginLoc();
  Result.Range = Replace.Site->getSourceRange();
  Result.Message = message(Found, plainName(Context, Replace.Operand));
  addCallers(Result, Replace.In);
  if (Found.What != ReassignedMember::Module)
    Result.Fixes =
        assignByCall(Context, *Replace.In->Flow, Replace.Site, "set_data");
  Result.IterationSite = Result.Location;
  return Result;
}

std::vector<Finding> ReassignedMemberCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const ReassignedMember &Found : reassignedMembers(Program))
    addUnlessKnown(Findings, describe(Program, Found));
  return Findings;
}

} // namespace torchtidy::checks

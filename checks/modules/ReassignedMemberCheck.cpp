// Finds registered parameters, buffers and submodules that get another tensor
// or module by assignment.
#include "modules/ReassignedMemberCheck.h"
#include "modules/ReassignedMember.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static std::string message(const ReassignedMember &Found,
                           const std::string &Name) {
  const std::string Member = Name.empty() ? "this member" : "'" + Name + "'";
  const std::string Copy =
      (Found.MayCarryGradient
           ? "; keep a value through which gradients flow in a member that is "
             "not registered, and copy others into it: '"
           : "; copy into it instead: '") +
      (Name.empty() ? "" : Name) + ".set_data(...)'";
  if (Found.IsLeftBehind)
    return Member +
           " gets a tensor that is computed from another parameter, and the "
           "module is moved afterwards: to() moves what is registered, and "
           "forward() goes on with a tensor on the old device or of the old "
           "type; compute it in forward()";
  switch (Found.What) {
  case ReassignedMember::Tensor:
    return "assigning to " + Member +
           " replaces the registered parameter: the optimizer, save() and to() "
           "keep the old tensor, while forward() uses the new one" +
           Copy;
  case ReassignedMember::Buffer:
    return "assigning to " + Member +
           " replaces the registered buffer: save(), to() and buffers() keep "
           "the old tensor, while forward() uses the new one" +
           Copy;
  case ReassignedMember::Module:
    return "assigning to " + Member +
           " replaces the registered module: the optimizer, save(), to() and "
           "train() keep the old one, while forward() runs the new one; use "
           "'replace_module()'";
  }
  return "";
}

static FindingKind kind(const ReassignedMember &Found) {
  switch (Found.What) {
  case ReassignedMember::Tensor:
    return FindingKind::ReassignedParameter;
  case ReassignedMember::Buffer:
    return FindingKind::ReassignedBuffer;
  case ReassignedMember::Module:
    break;
  }
  return FindingKind::ReassignedModule;
}

static Finding describe(const Program &Program, const ReassignedMember &Found) {
  const clang::ASTContext &Context = Program.context();
  const ReplaceEvent &Replace = *Found.Replace;
  Finding Result;
  Result.Location = Replace.Site->getBeginLoc();
  Result.Range = Replace.Site->getSourceRange();
  Result.Kind = kind(Found);
  Result.Message = message(Found, plainName(Context, Replace.Operand));
  addCallers(Result, Replace.In);
  // A copy would not be trained through the other one.
  if (Found.What != ReassignedMember::Module && !Found.IsLeftBehind &&
      !Found.MayCarryGradient)
    Result.Fixes =
        assignByCall(Context, *Replace.In->Flow, Replace.Site, "set_data");
  Result.IterationSite = Result.Location;
  return Result;
}

std::vector<Finding> ReassignedMemberCheck::analyze(Program &Program) {
  return findingsOf(Program, reassignedMembers, describe);
}

} // namespace torchtidy::checks

// Finds tensors that stay on the CPU although the module, or the tensor, that
// they are computed with was moved to another device.
#include "transfer/DeviceMismatchCheck.h"
#include "ast/Expressions.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Types.h"
#include "transfer/DeviceMismatch.h"

namespace torchtidy::checks {

using namespace model;

/// "'device'", or the kind of device that is known.
static std::string deviceText(const DeviceMismatch &Found) {
  if (Found.Nameable)
    return "'" + Found.Nameable->getNameAsString() + "'";
  if (Found.Device)
    return "'" + Found.Device->getNameAsString() + "'";
  return Found.Meeting->OfElsewhere.OnDevice.has(Device::CUDA)
             ? "a CUDA device"
             : "another device";
}

/// A variable or a path of members, as it is written.
static std::string quotedPath(const Program &Program, const clang::Expr *E,
                              llvm::StringRef Otherwise) {
  E = E ? ast::stripCopies(E) : nullptr;
  return llvm::isa_and_nonnull<clang::DeclRefExpr, clang::MemberExpr>(E)
             ? "'" + Program.text(E) + "'"
             : Otherwise.str();
}

static std::string moduleText(const Program &Program,
                              const DeviceMismatch &Found) {
  const std::string Name = objectName(Program.context(), Found.Meeting->Site);
  return Name.empty() ? "the module" : "'" + Name + "'";
}

/// What to append to the tensor, where that can be written.
static std::string moveText(const DeviceMismatch &Found) {
  const clang::Expr *Tensor = ast::stripCopies(Found.Tensor);
  if (!torch::isTensor(Tensor->getType()) || Found.IsSameInLoop)
    return "";
  if (Found.Nameable)
    return ".to(" + Found.Nameable->getNameAsString() + ")";
  const Devices &Where = Found.Meeting->OfElsewhere.OnDevice;
  return !Found.Device && Where.get() == Device::CUDA ? ".to(torch::kCUDA)"
                                                      : "";
}

/// When the operation throws.
static std::string throwsText(const DeviceMismatch &Found) {
  if (Found.Device)
    return "this throws wherever that is not the CPU; ";
  return Found.Meeting->OfElsewhere.OnDevice.has(Device::CPU)
             ? "this throws where that has happened; "
             : "this throws; ";
}

static void describeModule(const Program &Program, const DeviceMismatch &Found,
                           Finding &Result) {
  Result.Kind = FindingKind::MismatchModule;
  Result.Message = moduleText(Program, Found) +
                   " was never moved from the CPU, and " +
                   quotedPath(Program, Found.Meeting->Elsewhere, "its input") +
                   " is on " + deviceText(Found) + ": " + throwsText(Found) +
                   "move the module there before";
}

/// What the tensor meets, up to where that is.
static std::string otherText(const Program &Program,
                             const DeviceMismatch &Found) {
  const MeetEvent &Meeting = *Found.Meeting;
  const bool IsInput = !Meeting.Modules.empty();
  // The names of another function say nothing here.
  if (Found.In != Meeting.In) {
    const std::string By = "'" + Meeting.In->Function->getNameAsString() + "'";
    return IsInput ? "the module that " + By + " runs on it was moved to "
                   : "what it meets in " + By + " is on ";
  }
  return IsInput ? moduleText(Program, Found) + " was moved to "
                 : quotedPath(Program, Meeting.Elsewhere, "the other tensor") +
                       " is on ";
}

static void describeTensor(const Program &Program, const DeviceMismatch &Found,
                           Finding &Result) {
  Result.Kind = Found.Meeting->Modules.empty() ? FindingKind::MismatchOperands
                                               : FindingKind::MismatchInput;
  const std::string Move = moveText(Found);
  Result.Message = quotedPath(Program, Found.Tensor, "this tensor") +
                   " is on the CPU, and " + otherText(Program, Found) +
                   deviceText(Found) + ": " + throwsText(Found) +
                   (!Move.empty()        ? "append '" + Move + "'"
                    : Found.IsSameInLoop ? "move it there before the loop"
                                         : "move it there before");
  if (!Move.empty())
    Result.Fixes =
        appendCall(Program.context(), ast::stripCopies(Found.Tensor), Move);
}

static Finding describe(const Program &Program, const DeviceMismatch &Found) {
  const MeetEvent &Meeting = *Found.Meeting;
  const clang::Expr *Flagged = Found.Tensor ? Found.Tensor : Found.Site;
  Finding Result;
  Result.Location = Flagged->getBeginLoc();
  Result.Range = Flagged->getSourceRange();
  Result.IterationSite = Meeting.Site->getBeginLoc();
  if (Found.Tensor)
    describeTensor(Program, Found, Result);
  else
    describeModule(Program, Found, Result);
  if (Found.In != Meeting.In)
    Result.Notes.push_back(
        {Meeting.OnCpu->getBeginLoc(), "they meet here", NoteRole::Read});
  for (const clang::Expr *Again : Found.Again)
    Result.Notes.push_back(
        {Again->getBeginLoc(), "and it is given again here", NoteRole::Read});
  addCallers(Result, Found.In);
  return Result;
}

std::vector<Finding> DeviceMismatchCheck::analyze(Program &Program) {
  return findingsOf(Program, deviceMismatches, describe);
}

} // namespace torchtidy::checks

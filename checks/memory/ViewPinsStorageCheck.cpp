// Finds small views of large tensors that are kept or saved, and with them all
// of the memory that they are views of.
#include "memory/ViewPinsStorageCheck.h"
#include "ast/Expressions.h"
#include "memory/ViewPinsStorage.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Types.h"

namespace torchtidy::checks {

using namespace model;

static std::string message(const std::string &View, const std::string &List,
                           const ViewPinsStorage &Found) {
  const std::string Subject = View.empty() ? "a view" : "'" + View + "'";
  const std::string Copy =
      View.empty() ? "'.clone()' of it" : "'" + View + ".clone()'";
  if (Found.IsSaved)
    return Subject +
           " is a small part of a tensor, and all of the tensor's "
           "memory goes into the file; save " +
           Copy;
  return Subject + " kept" + (List.empty() ? "" : " in '" + List + "'") +
         " is a small part of a tensor, and keeps all of the tensor's memory "
         "alive, another one in each " +
         (Found.Around ? "iteration" : "call") + "; store " + Copy;
}

static Finding describe(const Program &Program, const ViewPinsStorage &Found) {
  const KeepEvent &Keep = *Found.Keep;
  Finding Result;
  Result.Location = Keep.Site->getBeginLoc();
  Result.Range = Keep.Site->getSourceRange();
  Result.Kind = Found.IsSaved ? FindingKind::ViewSaved : FindingKind::ViewKept;
  const clang::Expr *View = Keep.Operand;
  const std::string Name =
      View && isNamedTensor(ast::stripCopies(View))
          ? plainName(Program.context(), ast::stripCopies(View))
          : "";
  std::string List = targetName(Program.context(), Keep.Site);
  if (List.empty() && Found.Place)
    List = Found.Entry->places().name(*Found.Place);
  Result.Message = message(Name, List, Found);
  if (Found.Maker)
    Result.Notes.push_back({Found.Maker->getBeginLoc(),
                            "this makes all of the memory", NoteRole::Made});
  if (Found.Around)
    addLoop(Result, *Found.Entry, Keep.In, Found.Around);
  // An IValue is made of it.
  if (View && !torch::isTensor(View->getType()))
    View = ast::stripCopies(View);
  Result.Fixes = appendCall(Program.context(), View, ".clone()");
  if (Found.Maker)
    Result.IterationSite = Found.Maker->getBeginLoc();
  return Result;
}

std::vector<Finding> ViewPinsStorageCheck::analyze(Program &Program) {
  return findingsOf(Program, findViewPinsStorage, describe);
}

} // namespace torchtidy::checks

// Finds tensors and modules that are made in inference mode and then written,
// saved for backward() or trained outside of it.
#include "autograd/InferenceTensorCheck.h"
#include "autograd/InferenceTensor.h"
#include "report/Report.h"
#include <map>

namespace torchtidy::checks {

using namespace model;

static FindingKind kindOf(const InferenceTensor &Found) {
  switch (Found.Is) {
  case InferenceTensor::Written:
    return FindingKind::InferenceWritten;
  case InferenceTensor::Saved:
    return FindingKind::InferenceSaved;
  case InferenceTensor::Trained:
    break;
  }
  return FindingKind::InferenceTrained;
}

static std::string messageOf(const Program &Program,
                             const InferenceTensor &Found) {
  const std::string Name = objectName(Program.context(), Found.At->Site);
  switch (Found.Is) {
  case InferenceTensor::Written:
    return "in-place operation on a tensor that was made in inference mode "
           "throws outside of it, under a NoGradGuard as well; make the tensor "
           "outside of inference mode, or write to its 'clone()'";
  case InferenceTensor::Saved:
    return (Name.empty() ? "the layer" : "'" + Name + "'") +
           " is to save its input for backward(), and throws, because the "
           "tensor was made in inference mode; make it outside, or pass its "
           "'clone()'";
  case InferenceTensor::Trained:
    break;
  }
  return (Name.empty() ? "the module" : "'" + Name + "'") +
         " was made in inference mode and cannot be trained: its parameters "
         "get no gradient, or the pass or the step() throws; make it outside "
         "of inference mode";
}

static Finding describe(const Program &Program, const InferenceTensor &Found) {
  Finding Result;
  Result.Location = Found.At->Site->getBeginLoc();
  Result.Range = Found.At->Site->getSourceRange();
  Result.Kind = kindOf(Found);
  Result.Message = messageOf(Program, Found);
  addNote(Result,
          {Found.Made->Site->getBeginLoc(), "it is made here", NoteRole::Made});
  addNote(Result, {Found.Guard->Site->getBeginLoc(),
                   "inference mode is on from here", NoteRole::Sign});
  if (Found.Backward)
    addNote(Result, {Found.Backward->Site->getBeginLoc(),
                     "this backward() is to train it", NoteRole::Backward});
  Result.IterationSite = Found.At->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> InferenceTensorCheck::analyze(Program &Program) {
  std::vector<InferenceTensor> All = inferenceTensors(Program);
  llvm::stable_sort(All, [&](const auto &A, const auto &B) {
    return Program.sourceManager().isBeforeInTranslationUnit(
        A.At->Site->getBeginLoc(), B.At->Site->getBeginLoc());
  });
  std::vector<Finding> Findings;
  // The same change mends all uses of one tensor.
  std::map<std::pair<const Event *, InferenceTensor::Use>, size_t> ByTensor;
  for (const InferenceTensor &Found : All) {
    const auto [Known, IsNew] =
        ByTensor.try_emplace({Found.Made, Found.Is}, Findings.size());
    if (IsNew)
      Findings.push_back(describe(Program, Found));
    else
      addNote(Findings[Known->second],
              {Found.At->Site->getBeginLoc(), "and so does this one",
               NoteRole::AsWell});
  }
  return Findings;
}

} // namespace torchtidy::checks

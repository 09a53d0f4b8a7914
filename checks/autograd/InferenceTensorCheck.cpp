// Finds tensors and modules that are made in inference mode and then written,
// saved for backward() or trained outside of it.
#include "autograd/InferenceTensorCheck.h"
#include "autograd/InferenceTensor.h"
#include "report/Report.h"
#include <map>
#include <tuple>

namespace torchtidy::checks {

using namespace model;

static FindingKind kindOf(const InferenceTensor &Found) {
  switch (Found.Is) {
  case InferenceTensor::Written:
    return FindingKind::InferenceWritten;
  case InferenceTensor::Saved:
  case InferenceTensor::Operand:
    return FindingKind::InferenceSaved;
  case InferenceTensor::Trained:
    break;
  }
  return FindingKind::InferenceTrained;
}

static std::string messageOf(const Program &Program,
                             const InferenceTensor &Found) {
  const std::string Name = objectName(Program.context(), Found.At);
  // In LibTorch's words: what is looked up is what was read.
  const std::string Saving = "Inference tensors cannot be saved for backward";
  switch (Found.Is) {
  case InferenceTensor::Written:
    return "in-place operation on a tensor that was made in inference mode "
           "throws outside of it, under a NoGradGuard as well; make the tensor "
           "outside of inference mode, or write to its 'clone()'";
  case InferenceTensor::Saved:
    return (Name.empty() ? "the layer" : "'" + Name + "'") + " throws \"" +
           Saving +
           "\", because its input was made in inference mode; make it outside, "
           "or pass its 'clone()'";
  case InferenceTensor::Operand:
    return "this operation throws \"" + Saving +
           "\", because an operand was made in inference mode; make it "
           "outside, "
           "or compute with its 'clone()'";
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
  Result.Location = Found.At->getBeginLoc();
  Result.Range = Found.At->getSourceRange();
  Result.Kind = kindOf(Found);
  Result.Message = messageOf(Program, Found);
  addNote(Result,
          {Found.Made->getBeginLoc(), "it is made here", NoteRole::Made});
  addNote(Result, {Found.Guard->Site->getBeginLoc(),
                   "inference mode is on from here", NoteRole::Sign});
  if (Found.Backward)
    addNote(Result, {Found.Backward->Site->getBeginLoc(),
                     Found.Is == InferenceTensor::Trained
                         ? "this backward() is to train it"
                         : "this backward() needs it",
                     NoteRole::Backward});
  Result.IterationSite = Found.At->getBeginLoc();
  return Result;
}

std::vector<Finding> InferenceTensorCheck::analyze(Program &Program) {
  std::vector<InferenceTensor> All = inferenceTensors(Program);
  llvm::stable_sort(All, [&](const auto &A, const auto &B) {
    return Program.sourceManager().isBeforeInTranslationUnit(
        A.At->getBeginLoc(), B.At->getBeginLoc());
  });
  std::vector<Finding> Findings;
  // The same change mends all uses of one tensor.
  std::map<std::tuple<const clang::Expr *, const Frame *, InferenceTensor::Use>,
           size_t>
      ByTensor;
  for (const InferenceTensor &Found : All) {
    const auto [Known, IsNew] = ByTensor.try_emplace(
        {Found.Made, Found.MadeIn, Found.Is}, Findings.size());
    if (IsNew)
      Findings.push_back(describe(Program, Found));
    else
      addNote(
          Findings[Known->second],
          {Found.At->getBeginLoc(), "and so does this one", NoteRole::AsWell});
  }
  return Findings;
}

} // namespace torchtidy::checks

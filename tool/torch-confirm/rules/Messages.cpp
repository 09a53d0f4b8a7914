#include "rules/Messages.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

struct Meant {
  FindingKind Kind;
  /// Of these any; null where there are fewer.
  const char *Parts[4];
};

// The texts of LibTorch 2.11 (S: torch/csrc/autograd/VariableTypeUtils.h,
// saved_variable.cpp, functions/basic_ops.cpp; torch/csrc/api/src/optim;
// aten/src/ATen/TensorIterator.cpp). Those of 1.13 have these parts as well.
constexpr const char *Leaf =
    "leaf Variable that requires grad is being used in an in-place operation";
constexpr const char *Modified = "has been modified by an inplace operation";
constexpr const char *SecondTime = "backward through the graph a second time";
constexpr const char *NonLeaf = "optimize a non-leaf Tensor";
constexpr const char *NoGradient = "does not require grad";
constexpr const char *Inference = "nference tensor";
constexpr Meant All[] = {
    {FindingKind::LeafIsWritten, {Leaf}},
    {FindingKind::LeafIsWrittenThroughView, {Leaf}},
    {FindingKind::LeafIsResized, {"resize variables that require grad"}},
    {FindingKind::NonLeafThrows, {NonLeaf}},
    {FindingKind::NonLeafRegistered, {NonLeaf}},
    {FindingKind::InferenceWritten, {Inference}},
    {FindingKind::InferenceSaved, {Inference}},
    {FindingKind::InferenceTrained, {Inference, NoGradient}},
    {FindingKind::SavedResultIsWritten, {Modified}},
    {FindingKind::SavedOperandIsWritten, {Modified}},
    {FindingKind::StaleThrows, {Modified}},
    {FindingKind::StaleUnknown, {Modified}},
    {FindingKind::StateThrows, {SecondTime}},
    {FindingKind::GradModeNotRestored, {NoGradient}},
    {FindingKind::GradModeGuardLasts, {NoGradient}},
    {FindingKind::MismatchInput, {"same device", "Input type", "on cpu"}},
    {FindingKind::MismatchOperands, {"same device", "Input type", "on cpu"}},
    {FindingKind::MismatchModule, {"same device", "Input type", "on cpu"}},
    {FindingKind::HalfLoss, {"Half", "BFloat16"}},
    {FindingKind::HalfOperand, {"Half", "BFloat16"}},
    {FindingKind::HalfElements, {"Half", "BFloat16"}}};

const Meant *find(std::optional<FindingKind> Kind) {
  for (const Meant &Each : All)
    if (Kind == Each.Kind)
      return &Each;
  return nullptr;
}

} // namespace

/// Whatever is thrown at its line is something else.
static bool isSilent(std::optional<FindingKind> Kind) {
  return Kind == FindingKind::NonLeafIgnored ||
         Kind == FindingKind::NonLeafRebound ||
         Kind == FindingKind::StaleSilent;
}

bool isMeant(std::optional<FindingKind> Kind, const std::string &Message) {
  if (isSilent(Kind))
    return false;
  const Meant *Found = find(Kind);
  if (!Found)
    return true;
  return std::any_of(std::begin(Found->Parts), std::end(Found->Parts),
                     [&](const char *Part) {
                       return Part && Message.find(Part) != std::string::npos;
                     });
}

uint64_t countMeant(std::optional<FindingKind> Kind, const Site &At) {
  if (isSilent(Kind))
    return 0;
  if (!find(Kind))
    return At.Exceptions;
  uint64_t Result = 0;
  for (const ThrownCount &Each : At.Thrown)
    if (isMeant(Kind, Each.Message))
      Result += Each.Count;
  return Result;
}

} // namespace torchtidy::confirm

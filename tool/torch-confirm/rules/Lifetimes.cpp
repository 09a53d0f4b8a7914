#include "rules/Lifetimes.h"

namespace torchtidy::confirm {
namespace {

constexpr const char *Wraps = "from_blob";
constexpr const char *Cost = "wrong results or a crash";

/// What became of the tensors that a line lays over memory.
struct Wrapped {
  uint64_t Made = 0, Outlived = 0, OnStack = 0, Gone = 0, Uses = 0, Beyond = 0;
  /// A place whose tensors were used too late.
  const Site *Late = nullptr;
};

Wrapped wrappedAt(const Places &Where) {
  Wrapped Result;
  for (const Site *S : sitesOf(Where.Statement)) {
    if (S->Operation != Wraps)
      continue;
    Result.Made += S->Hits;
    Result.Outlived += S->WrapsOutlived;
    Result.OnStack += S->WrapsOnStack;
    Result.Gone += S->WrapsGone;
    Result.Uses += S->UsesOfGone;
    Result.Beyond += S->WrapsBeyond;
    if (S->UsesOfGone && !Result.Late)
      Result.Late = S;
  }
  return Result;
}

bool isOfBlob(const Places &Where) {
  using K = FindingKind;
  const auto Kind = Where.Finding.Kind;
  return Kind == K::BlobOwnerLeavesScope || Kind == K::BlobOwnerIsTemporary ||
         Kind == K::BlobOwnerIsDeleted || Kind == K::BlobOwnerReallocates;
}

} // namespace

std::optional<Verdict> judgeLifetime(const Places &Where) {
  if (!isOfBlob(Where) || !Where.Run.has("wrapped-memory"))
    return std::nullopt;
  const Wrapped Of = wrappedAt(Where);
  if (!Of.Made)
    return std::nullopt;
  Verdict V;
  V.Rule = "tensors whose memory goes before they do";
  V.Unit = "uses of memory that is gone";
  V.Iterations = Of.Made;
  const std::string File = Where.known(Where.Finding.Statement).File;
  const std::string All = countText(double(Of.Made), "tensor");
  if (Of.Uses) {
    const std::string Freed = placeText(", freed at ", Of.Late->GoneAt, File);
    const std::string First = placeText(" at ", Of.Late->UsedAt, File);
    V.Number = double(Of.Uses);
    return wrongResult(
        V, double(Of.Uses),
        "the memory of " + numberText(double(Of.Gone)) + " of " + All +
            " goes before they do" +
            (Freed.empty() ? ", with the function that had it on its stack"
                           : Freed) +
            "; used since " + countText(double(Of.Uses), "time") +
            ", first by " + Of.Late->UsedBy + First,
        Cost);
  }
  V.Number = 0;
  if (Of.Gone) {
    V.Result = Outcome::Refuted;
    V.Sentence = "the memory of " + numberText(double(Of.Gone)) + " of " + All +
                 " goes before they do, and nothing uses them since";
    return V;
  }
  if (Of.Outlived >= Of.Made) {
    V.Result = Outcome::Refuted;
    V.Sentence = All + ": the memory is there until they are gone";
    return V;
  }
  V.Number.reset();
  // Inlined, a function has no frame of its own, and its variables may have
  // ended nevertheless.
  if (Of.OnStack) {
    V.Sentence = numberText(double(Of.OnStack)) + " of " + All +
                 " are over memory on the stack, whose frame was there at each "
                 "use; whether the variable was, the run does not tell";
    return V;
  }
  V.Sentence = "the memory of " + numberText(double(Of.Made - Of.Outlived)) +
               " of " + All +
               " was not seen to go: it is no block of malloc's, or was there "
               "to the end";
  return V;
}

std::optional<Verdict> judgeWidth(const Places &Where) {
  if (!Where.Run.has("wrapped-memory"))
    return std::nullopt;
  const Wrapped Of = wrappedAt(Where);
  if (!Of.Beyond)
    return std::nullopt;
  Verdict V;
  V.Rule = "tensors over blocks of as many smaller elements";
  V.Unit = "tensors";
  V.Iterations = Of.Made;
  V.Number = double(Of.Beyond);
  return wrongResult(V, double(Of.Beyond),
                     numberText(double(Of.Beyond)) + " of " +
                         countText(double(Of.Made), "tensor") +
                         " lie over a block that has room for as many elements "
                         "of half their size, or less, and reach beyond it",
                     Cost);
}

} // namespace torchtidy::confirm

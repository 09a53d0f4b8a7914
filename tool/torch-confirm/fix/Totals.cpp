#include "fix/Totals.h"
#include "rules/Places.h"
#include "rules/Series.h"
#include "rules/Verdict.h"
#include <cmath>
#include <utility>

namespace torchtidy::confirm::fix {
namespace {

struct Sums {
  double Allocations = 0, AllocatedBytes = 0, Copies = 0, CopiedBytes = 0;

  explicit Sums(const Recording &Run) {
    for (const Site &S : Run.Sites) {
      Allocations += double(S.Allocations + S.CudaAllocations);
      AllocatedBytes += double(S.AllocatedBytes + S.CudaAllocatedBytes);
      for (const CopyCount &Each : S.Copies) {
        Copies += double(Each.Count);
        CopiedBytes += double(Each.Bytes);
      }
    }
  }
};

/// By how much a quantity grows with each time that a finding's place runs.
std::optional<double> growthAt(const DiagnosedFinding *Finding,
                               const Recording &Run,
                               int64_t Sample::*Quantity) {
  if (!Finding)
    return std::nullopt;
  const SourceMatch Sources(Run);
  const Places Where(*Finding, Run, Sources);
  const auto &Paths =
      Where.Statement.empty() ? Where.IterationSite : Where.Statement;
  if (Paths.empty() || !Paths.front().Clock)
    return std::nullopt;
  return growthPerHit(Paths.front().Clock->Series, Quantity);
}

/// Of the place that grows most without the fixes; first of those that can be
/// measured with them, too.
Row growth(const Recording &Before, const Recording &After,
           const std::vector<Followed> &Places, int64_t Sample::*Quantity) {
  Row Result;
  for (const Followed &Each : Places) {
    const auto Here = growthAt(Each.Before, Before, Quantity);
    if (!Here)
      continue;
    const auto Now = growthAt(Each.After, After, Quantity);
    if (Result.Before &&
        std::pair(Now.has_value(), *Here) <=
            std::pair(Result.After.has_value(), *Result.Before))
      continue;
    Result.Before = Here;
    Result.After = Now;
  }
  return Result;
}

} // namespace

std::vector<Row> compareTotals(const Recording &Before, const Recording &After,
                               const std::vector<Followed> &Places) {
  std::vector<Row> All;
  const auto Add = [&](const char *Key, const char *Name, double Old,
                       double New, bool IsBytes = false) {
    All.push_back({Key, Name, IsBytes, false, Old, New});
  };
  const Sums Old(Before), New(After);
  Add("peak-tensor-bytes", "peak of tensors on the host",
      double(Before.PeakCpuBytes), double(After.PeakCpuBytes), true);
  Add("peak-device-bytes", "peak of tensors on the device",
      double(Before.PeakCudaBytes), double(After.PeakCudaBytes), true);
  Row Bytes =
      growth(Before, After, Places,
             Before.PeakCudaBytes ? &Sample::CudaBytes : &Sample::CpuBytes);
  Bytes.Key = "bytes-per-iteration";
  Bytes.Name = "kept per iteration";
  Bytes.IsBytes = true;
  All.push_back(Bytes);
  Row Nodes = growth(Before, After, Places, &Sample::Nodes);
  Nodes.Key = "nodes-per-iteration";
  Nodes.Name = "graph nodes kept per iteration";
  All.push_back(Nodes);
  Add("nodes-alive", "graph nodes alive at the end", double(Before.NodesAlive),
      double(After.NodesAlive));
  Add("nodes-made", "graph nodes made", double(Before.NodesMade),
      double(After.NodesMade));
  Add("copies", "copies that convert or change device", Old.Copies, New.Copies);
  Add("copied-bytes", "bytes copied", Old.CopiedBytes, New.CopiedBytes, true);
  Add("allocations", "allocations of tensors", Old.Allocations,
      New.Allocations);
  Add("allocated-bytes", "bytes allocated", Old.AllocatedBytes,
      New.AllocatedBytes, true);
  Add("operations", "operations", double(Before.Operations),
      double(After.Operations));
  std::vector<Row> Result;
  for (Row &Each : All)
    if (Each.Before.value_or(0) != 0 || Each.After.value_or(0) != 0)
      Result.push_back(std::move(Each));
  Result.push_back({"seconds", "time, under the probe", false, true,
                    Before.Seconds, After.Seconds});
  return Result;
}

std::string textOf(const Row &Which, const std::optional<double> &Number) {
  if (!Number)
    return "-";
  if (Which.IsBytes)
    return bytesText(*Number);
  if (Which.IsSeconds)
    return numberText(std::round(*Number * 10) / 10) + " s";
  return numberText(*Number);
}

std::string changeOf(const Row &Which) {
  if (!Which.Before || !Which.After || *Which.Before == 0)
    return "";
  double Change = 100 * (*Which.After - *Which.Before) / *Which.Before;
  // Small ones to a tenth.
  Change =
      std::abs(Change) < 1 ? std::round(10 * Change) / 10 : std::round(Change);
  if (Change == 0)
    return "";
  return (Change > 0 ? "+" : "") + numberText(Change) + " %";
}

} // namespace torchtidy::confirm::fix

#include "rules/Series.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

constexpr size_t FewestSamples = 8;

double median(std::vector<double> Values) {
  const size_t Middle = Values.size() / 2;
  std::nth_element(Values.begin(), Values.begin() + Middle, Values.end());
  return Values[Middle];
}

/// Those after the warm-up.
std::vector<Sample> settled(const std::vector<Sample> &Series) {
  std::vector<Sample> Result;
  for (const Sample &S : Series)
    if (S.Hit > WarmUpHits)
      Result.push_back(S);
  return Result;
}

} // namespace

std::optional<double> growthPerHit(const std::vector<Sample> &Series,
                                   int64_t Sample::*Quantity) {
  const std::vector<Sample> Kept = settled(Series);
  if (Kept.size() < FewestSamples ||
      Kept.back().Hit - Kept.front().Hit + 1 < FewestHitsOfSlope)
    return std::nullopt;
  std::vector<double> Slopes;
  for (size_t I = 0; I + 2 < Kept.size(); ++I)
    if (Kept[I + 2].Hit > Kept[I].Hit)
      Slopes.push_back(double(Kept[I + 2].*Quantity - Kept[I].*Quantity) /
                       double(Kept[I + 2].Hit - Kept[I].Hit));
  if (Slopes.empty())
    return std::nullopt;
  return median(std::move(Slopes));
}

std::optional<double> heapGrowthPerHit(const std::vector<Sample> &Series) {
  std::vector<Sample> Asked;
  for (const Sample &S : Series)
    if (S.HeapBytes >= 0 &&
        (Asked.empty() || S.HeapBytes != Asked.back().HeapBytes))
      Asked.push_back(S);
  return growthPerHit(Asked, &Sample::HeapBytes);
}

std::optional<double> typical(const std::vector<Sample> &Series,
                              int64_t Sample::*Quantity) {
  std::vector<Sample> Kept = settled(Series);
  if (Kept.empty())
    Kept = Series;
  if (Kept.empty())
    return std::nullopt;
  std::vector<double> Values;
  for (const Sample &S : Kept)
    Values.push_back(double(S.*Quantity));
  return median(std::move(Values));
}

} // namespace torchtidy::confirm

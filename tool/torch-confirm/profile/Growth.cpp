// Whether memory grows until the end, and at which sites.
//
// What is alive goes up and down with each iteration. Moments after steps are
// of one phase; where there are no steps, moments were taken when little was
// alive. In each quarter of the run the least counts: what comes and goes is
// not in it. What grows has more at least in each quarter than in the one
// before; the first quarter may be anything (caches, buffers and the
// optimizer's state are filled). What was full before the end has not grown for
// long.
#include "profile/Parts.h"
#include <algorithm>
#include <limits>

namespace torchtidy::confirm {
namespace {

constexpr size_t Quarters = 4;
/// Of each quarter.
constexpr size_t FewestMoments = 2;
constexpr uint64_t FewestIterations = 12;
/// What a site holds changes by less than this, or than the share of it,
/// without a meaning.
constexpr int64_t SmallBytes = 1024;
constexpr double SmallShare = 0.01;
/// The growth of a quarter against that of the one before.
constexpr double LeastLeft = 0.3;
constexpr double LongestPause = 2;
/// The growth of two quarters against what comes and goes in one, beside the
/// growth. A full cache of entries of random sizes has this by chance in one
/// run of seventy where there are 40 moments, half as often as without the part
/// "beside the growth"; of what grows and has a noise as large as the growth of
/// a quarter 96 of 100 runs have it (simulated).
constexpr double LeastOfNoise = 2;
/// A growth of less than this share of the peak is told, but is no news.
constexpr double ShareOfPeak = 0.005;

using Numbers = std::vector<int64_t>;

/// The moments that are of one phase, and the quarter of each.
struct Sampling {
  std::vector<const Moment *> All;
  std::vector<size_t> Quarter;
  /// When that was, in quarters: 0 to 4.
  std::vector<double> When;
  bool CountsIterations = false;
  double Units = 0;

  bool isEnough() const {
    for (size_t Q = 0; Q < Quarters; ++Q)
      if (size_t(std::count(Quarter.begin(), Quarter.end(), Q)) < FewestMoments)
        return false;
    return !CountsIterations ||
           Units * Quarters / (Quarters - 1) >= double(FewestIterations);
  }
};

Sampling samplingOf(const Recording &Run) {
  Sampling Result;
  const auto Take = [&](bool AfterSteps) {
    Result.All.clear();
    for (const Moment &Each : Run.Moments)
      if (Each.Kind == MomentKind::AfterStep ||
          (!AfterSteps && Each.Kind == MomentKind::Regular))
        Result.All.push_back(&Each);
  };
  Take(true);
  Result.CountsIterations = Result.All.size() >= Quarters * FewestMoments;
  if (!Result.CountsIterations)
    Take(false);
  if (Result.All.empty())
    return Result;
  const auto At = [&](const Moment &Of) {
    return Result.CountsIterations ? double(Of.Iterations) : Of.Seconds;
  };
  const double First = At(*Result.All.front()), Last = At(*Result.All.back());
  for (const Moment *Each : Result.All) {
    const double Share =
        Last > First ? (At(*Each) - First) / (Last - First) : 0;
    Result.When.push_back(Share * double(Quarters));
    Result.Quarter.push_back(
        std::min(Quarters - 1, size_t(Result.When.back())));
  }
  Result.Units = (Last - First) * double(Quarters - 1) / double(Quarters);
  return Result;
}

/// Of each quarter the least, and when that was.
struct Leasts {
  Numbers Values = Numbers(Quarters, std::numeric_limits<int64_t>::max());
  std::vector<double> When = std::vector<double>(Quarters);

  Leasts(const Sampling &Of, const Numbers &All) {
    for (size_t I = 0; I < All.size(); ++I)
      if (const size_t Q = Of.Quarter[I]; All[I] < Values[Q]) {
        Values[Q] = All[I];
        When[Q] = Of.When[I];
      }
  }

  /// From the quarter before, in the time of a quarter: moments of a short run
  /// lie anywhere in one.
  double growthOf(size_t Quarter) const {
    const double Apart = When[Quarter] - When[Quarter - 1];
    return double(Values[Quarter] - Values[Quarter - 1]) / std::max(Apart, 0.5);
  }
};

/// What comes and goes within a quarter, beside the growth: how far the third
/// quartile is above the least, in the middle one of the last three quarters.
double noiseOf(const Sampling &Of, const Numbers &All, const Leasts &Least) {
  const double Slope = double(Least.Values[3] - Least.Values[1]) /
                       std::max(Least.When[3] - Least.When[1], 0.5);
  std::vector<double> Spreads;
  for (size_t Q = 1; Q < Quarters; ++Q) {
    std::vector<double> Within;
    for (size_t I = 0; I < All.size(); ++I)
      if (Of.Quarter[I] == Q)
        Within.push_back(double(All[I]) - Slope * Of.When[I]);
    std::sort(Within.begin(), Within.end());
    Spreads.push_back(Within[Within.size() * 3 / 4] - Within.front());
  }
  std::sort(Spreads.begin(), Spreads.end());
  return Spreads[Spreads.size() / 2];
}

/// Whether the last time that it grew is not longer ago, by the moments, than
/// it usually takes.
bool growsStill(const Numbers &Values, int64_t Small) {
  // What it has at least from here on.
  Numbers Least = Values;
  for (size_t I = Least.size() - 1; I-- > 0;)
    Least[I] = std::min(Least[I], Least[I + 1]);
  size_t First = 0, Last = 0, Times = 0;
  int64_t Before = Least.front();
  for (size_t I = 1; I < Least.size(); ++I) {
    if (Least[I] <= Before + Small)
      continue;
    Before = Least[I];
    First = Times++ ? First : I;
    Last = I;
  }
  if (Times < 2)
    return false;
  const double Usual = double(Last - First) / double(Times - 1);
  return double(Least.size() - 1 - Last) <= LongestPause * Usual + 1;
}

/// From the first quarter to the last one; 0 where it does not grow until the
/// end.
int64_t growth(const Sampling &Of, const Numbers &Values, int64_t Small) {
  const Leasts Found(Of, Values);
  const Numbers &Least = Found.Values;
  const int64_t Most = *std::max_element(Least.begin(), Least.end());
  const int64_t Least2 =
      std::max(Small, int64_t(SmallShare * double(std::max<int64_t>(Most, 0))));
  const int64_t Second = Least[2] - Least[1], Third = Least[3] - Least[2];
  // Of a full cache whose entries are of any size the least differs by chance.
  if (Second <= Least2 || Third <= Least2 ||
      double(Second + Third) <= LeastOfNoise * noiseOf(Of, Values, Found) ||
      Found.growthOf(3) < LeastLeft * Found.growthOf(2) ||
      !growsStill(Values, Least2 / int64_t(Quarters)))
    return 0;
  return Least[3] - std::min(Least[0], Least[1]);
}

/// By site, over the moments.
struct Curves {
  std::vector<Numbers> Bytes, Nodes;

  Curves(const Recording &Run, const Sampling &Of)
      : Bytes(Run.Sites.size()), Nodes(Run.Sites.size()) {
    for (size_t I = 0; I < Of.All.size(); ++I)
      for (const Held &Each : Of.All[I]->By) {
        if (Each.Site >= Run.Sites.size())
          continue;
        put(Bytes[Each.Site], I, Of.All.size(), bytesOf(Each));
        put(Nodes[Each.Site], I, Of.All.size(), Each.Nodes);
      }
  }

private:
  static void put(Numbers &To, size_t I, size_t Size, int64_t Value) {
    if (To.empty())
      To.assign(Size, 0);
    To[I] = Value;
  }
};

int64_t growthBeside(const Sampling &Of) {
  Numbers Values;
  for (const Moment *Each : Of.All) {
    if (Each->ResidentBytes < 0)
      return 0;
    Values.push_back(Each->ResidentBytes - Each->CpuBytes);
  }
  constexpr int64_t Pages = 1 << 20;
  return growth(Of, Values, Pages);
}

} // namespace

Growth growthOf(const Recording &Run) {
  Growth Result;
  const Sampling Of = samplingOf(Run);
  Result.CountsIterations = Of.CountsIterations;
  Result.Units = Of.Units;
  if (!Of.isEnough())
    return Result;
  const Curves All(Run, Of);
  int64_t Peak = 0;
  for (const Moment &Each : Run.Moments)
    Peak = std::max(Peak, bytesOf(Each));
  for (size_t I = 0; I < Run.Sites.size(); ++I) {
    SiteGrowth Each;
    Each.Site = I;
    if (!All.Bytes[I].empty())
      Each.Bytes = growth(Of, All.Bytes[I], SmallBytes);
    if (!All.Nodes[I].empty())
      Each.Nodes = growth(Of, All.Nodes[I], 2);
    if (!Each.Bytes && !Each.Nodes)
      continue;
    Result.Sites.push_back(Each);
    Result.Bytes += Each.Bytes;
    Result.Nodes += Each.Nodes;
  }
  std::stable_sort(Result.Sites.begin(), Result.Sites.end(),
                   [](const SiteGrowth &A, const SiteGrowth &B) {
                     return A.Bytes > B.Bytes;
                   });
  const bool IsNews =
      double(Result.Bytes) > ShareOfPeak * double(Peak) || Result.Nodes > 0;
  Result.Memory = IsNews && !Result.Sites.empty() ? Trend::Grows : Trend::Level;
  Result.BytesBeside = growthBeside(Of);
  return Result;
}

} // namespace torchtidy::confirm

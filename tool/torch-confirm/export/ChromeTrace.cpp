#include "export/ChromeTrace.h"
#include "export/Curves.h"
#include "rules/Verdict.h"
#include "support/Paths.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <tuple>

using nlohmann::ordered_json;

namespace torchtidy::confirm {
namespace {

std::string dumped(const ordered_json &Value) {
  return Value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// The readers count in nanoseconds; what is equal to them must be equal here.
int64_t nanoseconds(double Seconds) {
  return std::isfinite(Seconds) ? std::llround(std::max(Seconds, 0.0) * 1e9)
                                : 0;
}

/// As microseconds, which the format counts in.
std::string microseconds(int64_t Nanoseconds) {
  std::string Rest = std::to_string(Nanoseconds % 1000);
  return std::to_string(Nanoseconds / 1000) + "." +
         std::string(3 - Rest.size(), '0') + Rest;
}

std::string lineText(const SourceLine &Line) {
  return Line.File + ":" + std::to_string(Line.Line);
}

/// In few letters: each event has it.
std::string callerText(const SourceLine &Line) {
  return std::filesystem::path(Line.File).filename().string() + ":" +
         std::to_string(Line.Line) + " " + Line.Function;
}

class ChromeTrace {
public:
  ChromeTrace(std::ostream &Out, const Recording &Run, const Profile &What)
      : Out(Out), Run(Run), What(What), Process(Run.Process ? Run.Process : 1),
        SiteArgs(Run.Sites.size()) {
    for (const Event &Each : Run.Events)
      Threads.insert(Each.Thread);
    // 0 means no thread to Perfetto.
    while (Threads.count(IterationTrack) || IterationTrack == Process)
      ++IterationTrack;
  }

  void write() {
    // Perfetto knows the format by this beginning.
    Out << "{\"traceEvents\":[";
    names();
    iterations();
    operations();
    curves();
    instants();
    ordered_json Other = {{"torch-confirm", version()},
                          {"libtorch", Run.LibTorch},
                          {"command", Run.Command},
                          {"headline", What.Headline}};
    if (!Run.CudaDevice.empty())
      Other["cudaDevice"] = Run.CudaDevice;
    Out << "\n],\"displayTimeUnit\":\"ms\",\"otherData\":" << dumped(Other)
        << "}\n";
  }

private:
  /// Ends of what is open on a track, the innermost last.
  using OpenEnds = std::vector<int64_t>;

  std::ostream &begin(const char *Phase, const std::string &Name) {
    Out << (IsFirst ? "\n" : ",\n") << "{\"ph\":\"" << Phase
        << "\",\"pid\":" << Process << ",\"name\":" << dumped(Name);
    IsFirst = false;
    return Out;
  }

  void metadata(const char *Name, uint32_t Track, const ordered_json &Args) {
    begin("M", Name) << ",\"tid\":" << Track << ",\"args\":" << dumped(Args)
                     << '}';
  }

  void nameTrack(uint32_t Track, const std::string &Name, int Place) {
    metadata("thread_name", Track, {{"name", Name}});
    metadata("thread_sort_index", Track, {{"sort_index", Place}});
  }

  void names() {
    std::string Name = "program";
    if (!Run.Command.empty())
      Name = Run.Command.front();
    metadata("process_name", Process, {{"name", Name}});
    if (!Run.Iterations.empty())
      nameTrack(IterationTrack, "iterations", 0);
    int Place = 1;
    for (uint32_t Each : Threads)
      if (Each == Process)
        nameTrack(Each, "main thread", Place++);
    for (uint32_t Each : Threads)
      if (Each != Process)
        nameTrack(Each, "thread " + std::to_string(Each), Place++);
  }

  /// Ends with what it lies in: clocks of two readings may differ by a little,
  /// and readers put what overlaps anywhere.
  void slice(uint32_t Track, OpenEnds &Open, int64_t Begin, int64_t End,
             const std::string &Name, const char *Category,
             const std::string &Args) {
    while (!Open.empty() && Open.back() <= Begin)
      Open.pop_back();
    if (!Open.empty())
      End = std::min(End, Open.back());
    End = std::max(End, Begin);
    begin("X", Name) << ",\"cat\":\"" << Category << "\",\"tid\":" << Track
                     << ",\"ts\":" << microseconds(Begin)
                     << ",\"dur\":" << microseconds(End - Begin)
                     << ",\"args\":" << Args << '}';
    Open.push_back(End);
  }

  void iterations() {
    OpenEnds Open;
    for (const Iteration &Each : Run.Iterations) {
      const auto Phase = [&](const char *Name, double Begin, double End,
                             const ordered_json &Args) {
        if (Begin > 0 && End > Begin && Begin >= Each.Begin)
          slice(IterationTrack, Open, nanoseconds(Begin), nanoseconds(End),
                Name, "phase", dumped(Args));
      };
      slice(IterationTrack, Open, nanoseconds(Each.Begin),
            nanoseconds(Each.End), "iteration " + std::to_string(Each.Number),
            "iteration",
            dumped({{"number", Each.Number},
                    {"bytes before", Each.BytesBefore},
                    {"bytes after", Each.BytesAfter},
                    {"most bytes", Each.Peak},
                    {"graph nodes after", Each.NodesAfter}}));
      Phase("forward", std::max(Each.Begin, 1e-9), Each.BackwardBegin,
            {{"bytes at its end", Each.BytesAtBackward}});
      Phase("backward", Each.BackwardBegin, Each.BackwardEnd,
            {{"bytes at its end", Each.BytesAfterBackward}});
      Phase("step", Each.StepBegin, Each.End,
            {{"bytes at its end", Each.BytesAfter}});
    }
  }

  const char *phaseOf(size_t Site) const {
    return nameOf(Site < What.Sites.size() ? What.Sites[Site].Phase
                                           : WorkPhase::Other);
  }

  /// Of a site all events say the same.
  const std::string &argsOf(size_t Index) {
    std::string &Args = SiteArgs[Index];
    if (!Args.empty())
      return Args;
    const Site &S = Run.Sites[Index];
    ordered_json Result = {{"phase", phaseOf(Index)}};
    if (!S.Stack.empty()) {
      Result["line"] = lineText(S.Stack.front());
      Result["function"] = S.Stack.front().Function;
    }
    for (size_t I = 1; I < S.Stack.size(); ++I)
      Result["called from"].push_back(callerText(S.Stack[I]));
    std::string Shapes;
    for (const ShapeCount &Each : S.Shapes)
      Shapes += (Shapes.empty() ? "" : "; ") + Each.Text;
    if (S.OtherShapes)
      Shapes += "; and others";
    if (!Shapes.empty())
      Result["shapes"] = Shapes;
    return Args = dumped(Result);
  }

  void operations() {
    struct Placed {
      int64_t Begin, End;
      size_t Index;
    };
    std::vector<Placed> Order;
    Order.reserve(Run.Events.size());
    for (size_t I = 0; I < Run.Events.size(); ++I)
      if (Run.Events[I].Site < Run.Sites.size())
        Order.push_back({nanoseconds(Run.Events[I].Begin),
                         nanoseconds(Run.Events[I].End), I});
    // Of those that begin together the longest is around the others.
    std::sort(Order.begin(), Order.end(), [](const Placed &A, const Placed &B) {
      return std::make_tuple(A.Begin, -A.End, A.Index) <
             std::make_tuple(B.Begin, -B.End, B.Index);
    });
    std::map<uint32_t, OpenEnds> Open;
    for (const auto &[Begin, End, Index] : Order) {
      const Event &Each = Run.Events[Index];
      slice(Each.Thread, Open[Each.Thread], Begin, End,
            Run.Sites[Each.Site].Operation, phaseOf(Each.Site),
            argsOf(Each.Site));
    }
  }

  void curves() {
    const std::vector<CurvePoint> Points = curvesOf(Run);
    curve(Points, "CPU tensors", "bytes", &CurvePoint::Cpu);
    curve(Points, "CUDA tensors", "bytes", &CurvePoint::Cuda);
    curve(Points, "CUDA reserved", "bytes", &CurvePoint::Reserved);
    curve(Points, "resident", "bytes", &CurvePoint::Resident);
    curve(Points, "graph nodes", "alive", &CurvePoint::Nodes);
  }

  /// Only changes are written: a curve stays as it was. One that is never above
  /// 0 is left out.
  void curve(const std::vector<CurvePoint> &Points, const char *Name,
             const char *Unit, std::optional<int64_t> CurvePoint::*Value) {
    if (std::none_of(Points.begin(), Points.end(), [&](const CurvePoint &P) {
          return (P.*Value).value_or(0) > 0;
        }))
      return;
    std::optional<int64_t> Last;
    for (const CurvePoint &P : Points) {
      if (!(P.*Value) || P.*Value == Last)
        continue;
      Last = P.*Value;
      begin("C", Name) << ",\"ts\":" << microseconds(nanoseconds(P.Seconds))
                       << ",\"args\":{\"" << Unit << "\":" << *Last << "}}";
    }
  }

  void instant(double Seconds, const std::string &Name) {
    begin("i", Name) << ",\"cat\":\"memory\",\"s\":\"p\",\"tid\":" << Process
                     << ",\"ts\":" << microseconds(nanoseconds(Seconds)) << '}';
  }

  void instants() {
    std::vector<std::pair<double, std::string>> Marks;
    if (What.CpuPeak)
      Marks.emplace_back(What.CpuPeak->Seconds,
                         "peak of CPU memory: " +
                             bytesText(double(What.CpuPeak->Bytes)));
    if (What.CudaPeak)
      Marks.emplace_back(What.CudaPeak->Seconds,
                         "peak of CUDA memory: " +
                             bytesText(double(What.CudaPeak->Bytes)));
    for (const Moment &Each : Run.Moments)
      if (Each.Kind == MomentKind::Failure)
        Marks.emplace_back(Each.Seconds, "out of memory");
    if (Run.Signal)
      Marks.emplace_back(Run.Seconds,
                         "ended by signal " + std::to_string(*Run.Signal));
    std::stable_sort(
        Marks.begin(), Marks.end(),
        [](const auto &A, const auto &B) { return A.first < B.first; });
    for (const auto &[Seconds, Name] : Marks)
      instant(Seconds, Name);
  }

  std::ostream &Out;
  const Recording &Run;
  const Profile &What;
  const uint32_t Process;
  std::set<uint32_t> Threads;
  uint32_t IterationTrack = 1;
  std::vector<std::string> SiteArgs;
  bool IsFirst = true;
};

} // namespace

void writeChromeTrace(std::ostream &Out, const Recording &Run,
                      const Profile &What) {
  ChromeTrace(Out, Run, What).write();
}

} // namespace torchtidy::confirm

#include "live/View.h"
#include "live/Words.h"
#include "profile/Parts.h"
#include "support/Numbers.h"
#include <algorithm>
#include <cstdio>
#include <utility>

namespace torchtidy::confirm {
namespace {

constexpr size_t LabelColumns = 9;
/// Of what is alive; less is only told where it changes.
constexpr double LeastShare = 0.005;
constexpr size_t MostHolders = 10, MostTimes = 5, MostOutput = 4;
/// It may only be between two epochs, or load data.
constexpr double LongIdle = 3;

std::string baseName(const std::string &Path) {
  return Path.substr(Path.rfind('/') + 1);
}

int64_t bytesNow(const LiveLook &Of) {
  return Of.Run.LiveCpuBytes + Of.Run.LiveCudaBytes;
}

/// Of each line and operation, what it took in all.
std::map<std::pair<std::string, std::string>, double>
secondsOf(const Recording &Run) {
  std::map<std::pair<std::string, std::string>, double> Result;
  for (const Site &Each : Run.Sites)
    if (Each.Seconds > 0)
      Result[{Each.Operation, textOf(lineOf(Each))}] += Each.Seconds;
  return Result;
}

} // namespace

/// Writes one look.
class LiveView::Writer {
public:
  Writer(LiveView &View, const std::vector<std::string> &Output)
      : View(View), Now(*View.Now), Output(Output) {}

  std::vector<std::string> write() {
    head();
    memory();
    steps();
    why();
    holders();
    times();
    output();
    if (Lines.size() > View.Options.Rows)
      Lines.resize(View.Options.Rows);
    return std::move(Lines);
  }

private:
  size_t columns() const {
    return View.Options.Columns > LabelColumns
               ? View.Options.Columns - LabelColumns
               : 0;
  }
  void space() { Lines.emplace_back(); }
  void put(const char *Label, const std::string &Text, bool Bold = false) {
    std::string Begin = Label;
    Begin.resize(LabelColumns, ' ');
    const std::string Cut = cut(printable(Text), columns());
    if (View.Options.Color)
      Lines.push_back("\033[1m" + Begin + (Bold ? "" : "\033[0m") + Cut +
                      (Bold ? "\033[0m" : ""));
    else
      Lines.push_back(Begin + Cut);
  }

  std::string withSource(const SourceLine &Line) {
    const std::string Source = View.Known.line(Line.File, Line.Line);
    return textOf(Line) + (Source.empty() ? "" : "  " + Source);
  }

  void head() {
    const Recording &Run = Now.Run;
    std::string Text =
        (Run.Command.empty() ? "the program" : baseName(Run.Command[0])) +
        ", process " + std::to_string(Run.Process) + ", " +
        durationText(Run.Seconds + Now.Idle);
    if (!Run.CudaDevice.empty())
      Text += ", " + Run.CudaDevice;
    if (Now.Idle >= LongIdle)
      Text += "; no operation for " + durationText(Now.Idle);
    put("LIVE", Text);
  }

  void memory() {
    const Recording &Run = Now.Run;
    std::string Text = memoryText(double(bytesNow(Now))) +
                       " of tensors now, at most " +
                       memoryText(double(Run.PeakCpuBytes + Run.PeakCudaBytes));
    if (Run.LiveCudaBytes)
      Text += ", " + memoryText(double(Run.LiveCudaBytes)) + " on the device";
    if (Now.ResidentBytes >= 0)
      Text += "; the process has " + memoryText(double(Now.ResidentBytes)) +
              " resident";
    put("MEMORY", Text);
    std::vector<double> Values;
    for (const Moment &Each : Run.Moments)
      if (Each.Kind == MomentKind::AfterStep ||
          Each.Kind == MomentKind::Regular)
        Values.push_back(double(bytesOf(Each)));
    if (Values.size() > 1)
      put("", curveText(Values, columns(), View.Options.Unicode));
    put("GRAPHS", grouped(double(Run.NodesAlive)) + " nodes now");
  }

  void steps() {
    const Recording &Run = Now.Run;
    if (!Run.IterationCount || Run.Iterations.empty())
      return;
    std::string Text = grouped(double(Run.IterationCount)) + " iterations";
    const Iteration &Last = Run.Iterations.back();
    char Time[48];
    std::snprintf(Time, sizeof(Time), ", the last one took %.1f ms",
                  1e3 * (Last.End - Last.Begin));
    Text += Time;
    if (View.Before && Run.Seconds > View.Before->Run.Seconds) {
      std::snprintf(
          Time, sizeof(Time), ", %.1f per second now",
          double(Run.IterationCount - View.Before->Run.IterationCount) /
              (Run.Seconds - View.Before->Run.Seconds));
      Text += Time;
    }
    put("STEPS", Text);
  }

  void why() {
    if (!Now.HasTimeline) {
      put("WHY", "only 'torch-confirm report' records why memory grows");
      return;
    }
    const char *Label = "WHY";
    for (const std::string &Each : wrapped(Now.Of.Headline, columns()))
      put(std::exchange(Label, ""), Each, true);
    if (Now.Of.Memory == Trend::Grows && !Now.Of.Causes.empty()) {
      const Cause &Gravest = Now.Of.Causes.front();
      put("", withSource(Gravest.Line));
      if (!Gravest.Cure.empty())
        put("", "cure: " + Gravest.Cure);
    }
  }

  void holders() {
    const auto All = linesOf(Now.Run, Now.Now, bytesOf);
    const double Whole = double(std::max<int64_t>(bytesNow(Now), 1));
    space();
    put("LINES",
        View.Before ? "what is alive, and since you look" : "what is alive");
    size_t Shown = 0;
    for (const LineMemory &Each : All) {
      const auto It = View.First.find({Each.Line.File, Each.Line.Line});
      const int64_t Change =
          Each.Bytes - (It == View.First.end() ? 0 : It->second);
      const double Share = double(Each.Bytes) / Whole;
      if (Share < LeastShare && !Change)
        continue;
      if (++Shown > MostHolders)
        break;
      char Percent[16];
      std::snprintf(Percent, sizeof(Percent), "%3.0f %%  ", 100 * Share);
      put("", padded(memoryText(double(Each.Bytes)), 10) + "  " + Percent +
                  (View.Before ? changed(Change) : "") + withSource(Each.Line));
    }
  }

  static std::string changed(int64_t Bytes) {
    return padded((Bytes > 0 ? "+" : "") + memoryText(double(Bytes)), 11) +
           "  ";
  }

  void times() {
    if (!View.Before || !Now.HasTimeline)
      return;
    const double Passed = Now.Run.Seconds - View.Before->Run.Seconds;
    if (Passed <= 0)
      return;
    const auto Old = secondsOf(View.Before->Run);
    std::vector<std::pair<double, std::string>> Rows;
    for (const auto &[What, Seconds] : secondsOf(Now.Run)) {
      const auto It = Old.find(What);
      const double Share =
          (Seconds - (It == Old.end() ? 0 : It->second)) / Passed;
      if (Share >= 0.01)
        Rows.emplace_back(Share, What.first + "  " + What.second);
    }
    std::stable_sort(
        Rows.begin(), Rows.end(),
        [](const auto &A, const auto &B) { return A.first > B.first; });
    if (Rows.empty())
      return;
    space();
    put("TIME", "of the time since the last look");
    for (size_t I = 0; I < Rows.size() && I < MostTimes; ++I) {
      char Share[16];
      std::snprintf(Share, sizeof(Share), "%8.0f %%  ", 100 * Rows[I].first);
      put("", Share + Rows[I].second);
    }
  }

  void output() {
    if (Output.empty())
      return;
    space();
    const size_t From =
        Output.size() > MostOutput ? Output.size() - MostOutput : 0;
    for (size_t I = From; I < Output.size(); ++I)
      put(I == From ? "OUTPUT" : "", Output[I]);
  }

  LiveView &View;
  const LiveLook &Now;
  const std::vector<std::string> &Output;
  std::vector<std::string> Lines;
};

void LiveView::take(LiveLook Look) {
  if (!Now)
    for (const LineMemory &Each : linesOf(Look.Run, Look.Now, bytesOf))
      First[{Each.Line.File, Each.Line.Line}] = Each.Bytes;
  Before = std::move(Now);
  Now = std::move(Look);
}

std::vector<std::string>
LiveView::lines(const std::vector<std::string> &Output) {
  return Now ? Writer(*this, Output).write() : std::vector<std::string>();
}

std::string LiveView::line() const {
  if (!Now)
    return {};
  char Begin[32];
  std::snprintf(Begin, sizeof(Begin), "%.1f s: ", Now->Run.Seconds);
  std::string Text = Begin + memoryText(double(bytesNow(*Now))) +
                     " of tensors, " + grouped(double(Now->Run.NodesAlive)) +
                     " graph nodes";
  if (Now->Run.IterationCount)
    Text += ", " + grouped(double(Now->Run.IterationCount)) + " iterations";
  if (Now->HasTimeline)
    Text += "; " + Now->Of.Headline;
  return Text;
}

} // namespace torchtidy::confirm

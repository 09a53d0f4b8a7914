#include "report/Report.h"
#include "report/Sources.h"
#include <filesystem>
#include <map>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

class TextReport {
public:
  TextReport(const Report &What, const TextOptions &Options)
      : What(What), Options(Options) {}

  std::string write() {
    Result = head() + summary();
    bool HasDetails = false;
    for (const JudgedFinding &Each : What.Judged) {
      add(Each);
      HasDetails |= Each.Result.Result != Outcome::NotReached;
    }
    if (HasDetails && !Options.Details)
      Result += "\n--details shows what each finding says and the rule that "
                "decided\n";
    return Result;
  }

private:
  const Report &What;
  const TextOptions &Options;
  Sources Lines;
  std::string Result;
  /// The finding before took one line.
  bool WasShort = false;

  /// \p Codes: of "Select Graphic Rendition".
  std::string colored(const std::string &Text, const char *Codes) const {
    return Options.Color ? std::string("\033[") + Codes + "m" + Text + "\033[0m"
                         : Text;
  }

  static const char *colorOf(Outcome Of) {
    switch (Of) {
    case Outcome::Confirmed:
      return "1;31";
    case Outcome::Refuted:
      return "1;32";
    case Outcome::NotReached:
      return "2";
    case Outcome::NotMeasurable:
      return "33";
    }
    return "0";
  }

  std::string head() const {
    const Recording &Run = What.Run;
    std::string Text = "torch-confirm: ";
    Text += Run.Command.empty() ? "the program" : shortPath(Run.Command[0]);
    if (Run.TimedOut)
      Text += " did not end in time (--timeout) and was ended";
    else if (Run.Signal)
      Text += " ended by signal " + std::to_string(*Run.Signal);
    else if (Run.ExitCode && *Run.ExitCode)
      Text += " ended with " + std::to_string(*Run.ExitCode);
    else
      Text += " ran";
    Text += ", " + numberText(double(int64_t(Run.Seconds * 10)) / 10) + " s";
    if (!Run.LibTorch.empty())
      Text += ", LibTorch " + Run.LibTorch;
    Text += ", ";
    Text += Run.CudaDevice.empty() ? "no CUDA device" : Run.CudaDevice;
    if (Run.TimedOut)
      Text += "\nThe verdicts are about what it did until then.";
    return Text + "\n";
  }

  std::string summary() const {
    std::map<Outcome, size_t> Number;
    for (const JudgedFinding &Each : What.Judged)
      ++Number[Each.Result.Result];
    std::string Text =
        countText(double(What.Judged.size()), "finding") + ": " +
        std::to_string(Number[Outcome::Confirmed]) + " confirmed, " +
        std::to_string(Number[Outcome::Refuted]) + " refuted, " +
        std::to_string(Number[Outcome::NotReached]) + " not reached, " +
        std::to_string(Number[Outcome::NotMeasurable]) + " not measurable here";
    if (What.Input.Others)
      Text +=
          "; " + countText(double(What.Input.Others), "finding") +
          (What.Input.Others == 1 ? " of another tool" : " of other tools") +
          " left out";
    return colored(Text, "1") + "\n";
  }

  void add(const JudgedFinding &Each) {
    const DiagnosedFinding &Finding = Each.Finding;
    const Verdict &V = Each.Result;
    const bool IsShort = V.Result == Outcome::NotReached && !Options.Details;
    if (!IsShort || !WasShort)
      Result += "\n";
    WasShort = IsShort;
    Result += colored(nameOf(V.Result), colorOf(V.Result)) + "  " +
              colored(placeOf(Finding), "1") + "  [" + Finding.Check + "]";
    if (const std::string Line =
            Lines.line(Finding.Statement.File, Finding.Line);
        !Line.empty())
      Result += "  " + Line;
    Result += "\n";
    // There is nothing to look at yet, and there may be many: those of the
    // other programs of a project.
    if (IsShort)
      return;
    Result += "    " + V.Sentence;
    if (!V.CostText.empty())
      Result += " (" + V.CostText + ")";
    Result += "\n";
    if (Each.Tried)
      addExperiment(*Each.Tried);
    if (Options.Details)
      addDetails(Each);
  }

  void addExperiment(const Experiment &Tried) {
    Result += "    experiment: " + Tried.Action + "\n";
    if (!Tried.Before.empty())
      Result += "      as it is: " + Tried.Before +
                "\n      so: " + Tried.After + "\n";
    Result += "      " + Tried.Sentence + "\n";
  }

  void addDetails(const JudgedFinding &Each) {
    Result += "    finding: " + Each.Finding.Message + "\n";
    for (const SeenOperation &Seen : Each.Operations)
      Result += "    ran: " + Seen.Name + ", " +
                countText(double(Seen.Hits), "time") + ", " + Seen.Shapes +
                "\n";
    if (!Each.Result.Rule.empty())
      Result += "    rule: " + Each.Result.Rule + "\n";
  }
};

} // namespace

std::string shortPath(const std::string &File) {
  std::error_code Error;
  const fs::path Here = fs::current_path(Error);
  const std::string Prefix = Here.string() + "/";
  return !Error && File.rfind(Prefix, 0) == 0 ? File.substr(Prefix.size())
                                              : File;
}

std::string placeOf(const DiagnosedFinding &Finding) {
  std::string Result =
      shortPath(Finding.Statement.File) + ":" + std::to_string(Finding.Line);
  if (Finding.Column)
    Result += ":" + std::to_string(Finding.Column);
  return Result;
}

std::string asText(const Report &What, const TextOptions &Options) {
  return TextReport(What, Options).write();
}

} // namespace torchtidy::confirm

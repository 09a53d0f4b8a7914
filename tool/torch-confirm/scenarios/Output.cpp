#include "scenarios/Output.h"
#include "scenarios/Format.h"
#include "support/Capture.h"
#include "support/Files.h"
#include "support/Paths.h"
#include <algorithm>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using Json = nlohmann::ordered_json;

namespace torchtidy::confirm::scenarios {

bool CheckResult::holds() const {
  return Problems.empty() &&
         std::all_of(Outcomes.begin(), Outcomes.end(),
                     [](const auto &Each) { return Each.second.holds(); });
}

namespace {

std::string show(const std::optional<Number> &N) {
  return N ? formatNumber(N->Value) : "-";
}

std::string showRatio(const Comparison &Row) {
  if (const auto Ratio = Row.ratio())
    return formatNumber(*Ratio);
  return "-";
}

std::string title(const Quantity &What) {
  return What.Loop == "process" ? What.Measure
                                : What.Loop + ": " + What.Measure;
}

/// How a quantity grows from the smallest size to the largest; null in other
/// rows.
const Growth *growthAt(const Outcome &O, const Comparison &Row) {
  for (const Growth &G : O.Growths)
    if (G.To == Row.Size && G.What.Loop == Row.What.Loop &&
        G.What.Measure == Row.What.Measure)
      return &G;
  return nullptr;
}

std::string showVerdict(const Outcome &O, const Comparison &Row) {
  const Growth *G = growthAt(O, Row);
  const bool Fails = G && G->Says == Verdict::Failed;
  std::string Result = name(Fails ? G->Says : Row.Says);
  std::string Why = Row.Why;
  if (G) {
    Why += Why.empty() ? "" : "; ";
    Why += G->Times ? "grows " + formatNumber(*G->Times) + " times"
                    : "grows from nothing";
    Why += ", expected " + formatNumber(G->Expected);
  }
  return Why.empty() ? Result : Result + " (" + Why + ")";
}

void printRow(std::ostream &Stream, const Outcome &O, const Comparison &Row) {
  Stream << "  " << std::left << std::setw(36) << title(Row.What) << std::right
         << std::setw(4) << Row.Size << std::setw(12) << show(Row.Wrong)
         << std::setw(12) << show(Row.Fixed) << std::setw(12) << show(Row.Fixit)
         << std::setw(9) << showRatio(Row) << "  " << showVerdict(O, Row)
         << '\n';
}

Json toJson(const std::optional<Number> &N) {
  if (!N)
    return nullptr;
  if (N->Least == N->Most || N->Least != N->Least)
    return N->Value;
  return {{"median", N->Value}, {"least", N->Least}, {"most", N->Most}};
}

Json toJson(const Outcome &O) {
  Json Rows = Json::array(), Growths = Json::array();
  for (const Comparison &Row : O.Rows) {
    Json Each = {{"loop", Row.What.Loop},      {"measure", Row.What.Measure},
                 {"size", Row.Size},           {"wrong", toJson(Row.Wrong)},
                 {"fixed", toJson(Row.Fixed)}, {"fixit", toJson(Row.Fixit)}};
    if (const auto Ratio = Row.ratio())
      Each["ratio"] = *Ratio;
    Each["verdict"] = name(Row.Says);
    Each["required"] = Row.Why;
    Rows.push_back(std::move(Each));
  }
  for (const Growth &G : O.Growths)
    Growths.push_back({{"loop", G.What.Loop},
                       {"measure", G.What.Measure},
                       {"from", G.From},
                       {"to", G.To},
                       {"times", G.Times ? Json(*G.Times) : Json()},
                       {"expected", G.Expected},
                       {"verdict", name(G.Says)}});
  return {{"measures", std::move(Rows)}, {"growth", std::move(Growths)}};
}

/// The value of the first line "Key : value" of a file.
std::string lookUp(const char *File, const std::string &Key) {
  std::ifstream Stream(File);
  for (std::string Line; std::getline(Stream, Line);) {
    const size_t Colon = Line.find(':');
    if (Line.compare(0, Key.size(), Key) == 0 && Colon != std::string::npos)
      return Line.substr(std::min(Colon + 2, Line.size()));
  }
  return "";
}

std::string today() {
  const std::time_t Now = std::time(nullptr);
  char Text[16];
  std::strftime(Text, sizeof(Text), "%Y-%m-%d", std::gmtime(&Now));
  return Text;
}

} // namespace

void printResult(std::ostream &Stream, const CheckResult &Result) {
  Stream << Result.Check << " (" << Result.Evidence << ")\n";
  if (!Result.Analysis.empty())
    Stream << "  " << Result.Analysis << '\n';
  for (const std::string &Problem : Result.Problems)
    Stream << "  FAILED: " << Problem << '\n';
  for (const auto &[Device, O] : Result.Outcomes) {
    Stream << "  " << std::left << std::setw(36) << "on " + Device << std::right
           << std::setw(4) << "size" << std::setw(12) << "wrong"
           << std::setw(12) << "fixed" << std::setw(12) << "fix-it"
           << std::setw(9) << "ratio"
           << "  verdict\n";
    for (const Comparison &Row : O.Rows)
      printRow(Stream, O, Row);
  }
}

Json toJson(const CheckResult &R) {
  Json Devices = Json::object();
  for (const auto &[Device, O] : R.Outcomes)
    Devices[Device] = toJson(O);
  return {{"check", R.Check},
          {"evidence", R.Evidence},
          {"verdict", R.holds() ? "holds" : "FAILED"},
          {"analysis", R.Analysis},
          {"problems", R.Problems},
          {"devices", std::move(Devices)}};
}

bool holds(const Json &Check) { return Check.value("verdict", "") == "holds"; }

void printSummary(std::ostream &Stream, const std::vector<Json> &All,
                  const std::vector<std::string> &LeftOut) {
  const auto Held = std::count_if(All.begin(), All.end(), holds);
  Stream << Held << " of " << All.size() << " scenarios hold";
  if (!LeftOut.empty())
    Stream << "; there was no time for " << LeftOut.size() << " more";
  Stream << '\n';
  for (const Json &Each : All)
    if (!holds(Each))
      Stream << "FAILED: " << Each.value("check", "") << '\n';
  for (const std::string &Each : LeftOut)
    Stream << "no time: " << Each << '\n';
}

void writeJson(const std::filesystem::path &File, const Setting &How,
               const std::vector<Json> &All,
               const std::vector<std::string> &LeftOut) {
  Json Result = {{"date", How.Date},
                 {"torch-confirm", How.Version},
                 {"libtorch", How.LibTorch},
                 {"processor", How.Processor},
                 {"cuda-device", How.CudaDevice},
                 {"cuda-driver", How.CudaDriver},
                 {"sizes", How.Sizes},
                 {"repeat", How.Repeat},
                 {"checks", All}};
  if (!LeftOut.empty())
    Result["no-time-for"] = LeftOut;
  // A loss may be NaN, which JSON does not know: it becomes null.
  writeFileToDisk(File.string(), Result.dump(1) + '\n');
}

std::string deviceName() {
  std::error_code Error;
  for (std::filesystem::directory_iterator
           At("/proc/driver/nvidia/gpus", Error),
       End;
       !Error && At != End; At.increment(Error)) {
    const std::string File = (At->path() / "information").string();
    if (const std::string Name = lookUp(File.c_str(), "Model"); !Name.empty())
      return Name.substr(Name.find_first_not_of(" \t"));
  }
  return "";
}

Setting describeMachine() {
  Setting Result;
  Result.Version = version();
  Result.Date = today();
  Result.Processor = lookUp("/proc/cpuinfo", "model name");
  std::ifstream Driver("/sys/module/nvidia/version");
  std::getline(Driver, Result.CudaDriver);
  if (Result.CudaDriver.empty() && !findOnPath("nvidia-smi").empty()) {
    const Captured Asked = capture(
        {"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"});
    if (Asked.succeeded())
      Result.CudaDriver = Asked.Output.substr(0, Asked.Output.find('\n'));
  }
  return Result;
}

} // namespace torchtidy::confirm::scenarios

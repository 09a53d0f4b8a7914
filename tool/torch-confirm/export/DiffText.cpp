// What two reports differ in, in words.
#include "export/Diff.h"
#include "rules/Verdict.h"
#include <algorithm>
#include <cmath>
#include <filesystem>

using nlohmann::json;
using nlohmann::ordered_json;

namespace torchtidy::confirm {
namespace {

constexpr size_t MostRows = 10;
/// Of the whole: less than that is noise, and no reason to read on.
constexpr double Noise = 0.01;

using Writer = std::string (*)(double);

std::string secondsText(double Seconds) {
  if (std::abs(Seconds) < 1)
    return numberText(Seconds * 1e3) + " ms";
  return numberText(Seconds) + " s";
}

std::string signedText(double Amount, Writer Write) {
  return (Amount < 0 ? "-" : "+") + Write(std::abs(Amount));
}

std::string padded(std::string Text, size_t Width) {
  if (Text.size() < Width)
    Text.append(Width - Text.size(), ' ');
  return Text;
}

std::string amountText(const ordered_json &Of, const char *When, Writer Write) {
  return Of.contains(When) ? Write(Of[When].get<double>()) : "unknown";
}

/// "80 KiB -> 40 KiB (-50 %)"
std::string changeText(const ordered_json &Of, Writer Write) {
  const std::string Before = amountText(Of, "before", Write),
                    After = amountText(Of, "after", Write);
  if (Before == After)
    return Before + ", as before";
  std::string Result = Before + " -> " + After;
  if (!Of.contains("before") || !Of.contains("after"))
    return Result;
  const double Old = Of["before"], New = Of["after"];
  if (Old > 0)
    Result += " (" + std::string(New < Old ? "" : "+") +
              std::to_string(std::lround(100 * (New - Old) / Old)) + " %)";
  return Result;
}

std::string placeText(const ordered_json &Row) {
  const ordered_json &Line = Row["line"];
  if (!Line.contains("file"))
    return "no line is known";
  const std::filesystem::path File = Line["file"].get<std::string>();
  std::string Result = File.filename().string();
  if (Line.contains("line"))
    Result += ":" + std::to_string(Line["line"].get<unsigned>());
  if (Row.contains("lineBefore"))
    Result += " (was line " +
              std::to_string(Row["lineBefore"].value("line", 0u)) + ")";
  if (Line.contains("function"))
    Result += "  " + Line["function"].get<std::string>();
  return Result;
}

std::string totals(const ordered_json &Diff) {
  const std::string Unit = Diff["unit"];
  const ordered_json &All = Diff["totals"];
  std::string Result;
  const auto Add = [&](const char *Name, const std::string &Words,
                       Writer Write) {
    if (All.contains(Name))
      Result += padded(Words, 28) + changeText(All[Name], Write) + "\n";
  };
  Add("peakCpu", "peak of CPU tensors", bytesText);
  Add("peakCuda", "peak of CUDA tensors", bytesText);
  Add("peakReserved", "peak reserved on CUDA", bytesText);
  Add("peakResident", "peak of the process", bytesText);
  Add("bytesPerUnit", "growth per " + Unit, bytesText);
  Add("nodesPerUnit", "graph nodes per " + Unit, numberText);
  Add("iterationSeconds", "a typical iteration", secondsText);
  Add("seconds", "time of the run", secondsText);
  return Result;
}

std::string weightOf(const ordered_json &Amounts, const std::string &Unit) {
  std::string Result = bytesText(Amounts.value("bytes", 0.0));
  if (const double Growth = Amounts.value("bytesPerUnit", 0.0))
    Result += ", " + bytesText(Growth) + " per " + Unit;
  return Result;
}

std::string causes(const ordered_json &Diff) {
  const std::string Unit = Diff["unit"];
  std::string Result;
  for (const ordered_json &Each : Diff["causes"]) {
    std::string State = Each["state"];
    std::transform(State.begin(), State.end(), State.begin(), [](char C) {
      return C >= 'a' && C <= 'z' ? char(C - 'a' + 'A') : C;
    });
    Result += padded(State, 9) + Each["kind"].get<std::string>() + "  " +
              placeText(Each) + "\n         ";
    const std::string Old =
        Each.contains("before") ? weightOf(Each["before"], Unit) : "";
    const std::string New =
        Each.contains("after") ? weightOf(Each["after"], Unit) : "";
    Result += Old + (Old.empty() || New.empty() || Old == New ? "" : " -> ") +
              (Old == New ? "" : New) + "\n";
    if (Each.contains("cure") && Each["state"] != "gone")
      Result += "         " + Each["cure"].get<std::string>() + "\n";
  }
  return Result;
}

/// \param Whole what the rows are a part of.
std::string rows(const std::string &Title, const ordered_json &Rows,
                 double Whole, Writer Write) {
  std::string Result;
  size_t Shown = 0, Left = 0;
  for (const ordered_json &Each : Rows) {
    const double Old = Each["before"], New = Each["after"];
    if (std::abs(New - Old) < Noise * Whole)
      break;
    if (Shown == MostRows) {
      ++Left;
      continue;
    }
    ++Shown;
    Result += "  " + padded(signedText(New - Old, Write), 12) +
              padded(Write(Old) + " -> " + Write(New), 26) + placeText(Each);
    if (Each.contains("operation"))
      Result += "  " + Each["operation"].get<std::string>();
    Result += "\n";
  }
  if (Result.empty())
    return "";
  if (Left)
    Result += "  and " + countText(double(Left), "line") + " more\n";
  return "\n" + Title + "\n" + Result;
}

double largerOf(const ordered_json &Diff, const char *Name) {
  const ordered_json Of = Diff["totals"].value(Name, ordered_json::object());
  return std::max(Of.value("before", 0.0), Of.value("after", 0.0));
}

} // namespace

std::string diffText(const ordered_json &Diff) {
  std::string Result =
      "before: " + Diff["before"]["headline"].get<std::string>() +
      "\nafter:  " + Diff["after"]["headline"].get<std::string>() + "\n\n" +
      totals(Diff);
  if (const std::string Words = causes(Diff); !Words.empty())
    Result += "\n" + Words;
  const ordered_json &Lines = Diff["linesAtPeak"];
  Result += rows("CPU memory at the peak, by line", Lines["cpu"],
                 largerOf(Diff, "peakCpu"), bytesText);
  Result += rows("CUDA memory at the peak, by line", Lines["cuda"],
                 largerOf(Diff, "peakCuda"), bytesText);
  Result += rows("time, by line", Diff["times"], largerOf(Diff, "seconds"),
                 secondsText);
  return Result;
}

std::string diffOf(const json &Before, const json &After) {
  return diffText(diffJson(Before, After));
}

} // namespace torchtidy::confirm

#include "Colors.h"
#include "Messages.h"
#include <cstdlib>

using namespace llvm;

namespace torchtidy::tool {
namespace {

enum class Wanted { ByEnvironment, Always, Never };
Wanted Asked = Wanted::ByEnvironment;

const cl::opt<std::string> *Option = nullptr;

bool isSet(const char *Variable) {
  const char *Value = std::getenv(Variable);
  return Value && *Value;
}

bool isZero(const char *Variable) {
  const char *Value = std::getenv(Variable);
  return Value && StringRef(Value) == "0";
}

/// https://no-color.org, and https://bixense.com/clicolors for the others, of
/// which FORCE_COLOR is what more programs know.
std::optional<bool> saidByEnvironment() {
  if (isSet("NO_COLOR"))
    return false;
  for (const char *Force : {"CLICOLOR_FORCE", "FORCE_COLOR"})
    if (isSet(Force) && !isZero(Force))
      return true;
  if (isZero("CLICOLOR"))
    return false;
  return std::nullopt;
}

} // namespace

void addColorOption(cl::OptionCategory &Category) {
  // LLVM's own is one of yes and no, and knows no NO_COLOR.
  StringMap<cl::Option *> &All = cl::getRegisteredOptions();
  if (const auto LLVMs = All.find("color"); LLVMs != All.end())
    LLVMs->second->removeArgument();
  static cl::opt<std::string> Color(
      "color", cl::value_desc("auto|always|never"), cl::cat(Category),
      cl::desc("Whether findings, diffs of --show-fixes and messages have\n"
               "colours (default: auto, on a terminal; NO_COLOR in the\n"
               "environment: no, CLICOLOR_FORCE or FORCE_COLOR: yes).\n"
               "Formats for programs never have."));
  Option = &Color;
  WithColor::setAutoDetectFunction(
      [](const raw_ostream &OS) { return hasColors(OS); });
}

bool readColorOption(std::optional<bool> &UseColor) {
  if (UseColor)
    Asked = *UseColor ? Wanted::Always : Wanted::Never;
  if (!Option->getNumOccurrences())
    return true;
  const StringRef When = Option->getValue();
  if (When == "always")
    Asked = Wanted::Always;
  else if (When == "never")
    Asked = Wanted::Never;
  else if (When == "auto")
    Asked = Wanted::ByEnvironment;
  else {
    error() << "unknown word in --color=" << When
            << ": there are auto, always and never\n";
    return false;
  }
  // Also stands over what a .clang-tidy says.
  UseColor = hasColors(outs());
  return true;
}

bool hasColors(const raw_ostream &OS) {
  if (Asked != Wanted::ByEnvironment)
    return Asked == Wanted::Always;
  if (const std::optional<bool> Said = saidByEnvironment())
    return *Said;
  return OS.has_colors();
}

} // namespace torchtidy::tool

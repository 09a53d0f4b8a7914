#include "report/Links.h"
#include "Pages.h"
#include "Registry.h"
#include "clang-tidy/ClangTidy.h"
#include "report/Uri.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <unistd.h>

using namespace llvm;

namespace torchtidy::tool {

bool terminalHasLinks() {
  using sys::Process;
  if (!Process::StandardOutIsDisplayed())
    return false;
  if (const std::optional<std::string> Forced =
          Process::GetEnv("FORCE_HYPERLINK"))
    return *Forced != "0";
  for (const char *Of : {"DOMTERM", "WT_SESSION", "KONSOLE_VERSION"})
    if (Process::GetEnv(Of))
      return true;
  unsigned Vte = 0;
  if (!StringRef(Process::GetEnv("VTE_VERSION").value_or(""))
           .getAsInteger(10, Vte) &&
      Vte >= 5000)
    return true;
  const std::string Program = Process::GetEnv("TERM_PROGRAM").value_or(""),
                    Term = Process::GetEnv("TERM").value_or("");
  return is_contained({"Hyper", "iTerm.app", "terminology", "WezTerm", "vscode",
                       "ghostty"},
                      Program) ||
         is_contained({"xterm-kitty", "alacritty", "alacritty-direct"}, Term) ||
         Process::GetEnv("COLORTERM").value_or("") == "xfce4-terminal";
}

namespace {

/// Empty where there is none.
class Addresses {
public:
  explicit Addresses(StringRef Executable) : Executable(Executable) {
    char Name[256] = "";
    // On another machine, through ssh, the terminal could find the wrong file.
    if (::gethostname(Name, sizeof(Name) - 1) == 0)
      Host = Name;
  }

  const std::string &of(StringRef Check) {
    const auto [It, IsNew] = Known.try_emplace(Check);
    if (IsNew)
      It->second = find(Check);
    return It->second;
  }

private:
  std::string find(StringRef Check) {
    if (const CheckInfo *Ours = findCheck(Check)) {
      const std::string Page = pagePath(Ours->Name, Executable);
      return sys::fs::exists(Page) ? "file://" + Host + uriPath(Page) : "";
    }
    if (Stock.empty())
      Stock = clang::tidy::getAllChecksAndOptions().Names;
    return Stock.contains(Check) ? stockPage(Check) : "";
  }

  StringRef Executable;
  std::string Host;
  StringMap<std::string> Known;
  StringSet<> Stock;
};

} // namespace

std::string withLinks(StringRef Findings, StringRef Executable) {
  constexpr llvm::StringLiteral Bold = "\x1b[1m", Reset = "\x1b[0m";
  Addresses Pages(Executable);
  std::string Result;
  while (!Findings.empty()) {
    const size_t End = Findings.find('\n');
    StringRef Line = Findings.take_front(End);
    Findings = End == StringRef::npos ? "" : Findings.drop_front(End + 1);
    StringRef Behind = Line.ends_with(Reset) ? Reset : "";
    StringRef Text = Line.drop_back(Behind.size());
    const size_t Bracket = Text.rfind('[');
    // Only such a line begins in bold; the snippet before it may end there.
    StringRef Start = Line;
    Start.consume_front(Reset);
    if (!Start.starts_with(Bold) || !Text.consume_back("]") ||
        Bracket == StringRef::npos) {
      Result += Line;
    } else {
      Result += Text.take_front(Bracket + 1);
      bool IsFirst = true;
      for (const StringRef Name :
           llvm::split(Text.drop_front(Bracket + 1), ',')) {
        const std::string &Address = Pages.of(Name);
        Result += IsFirst ? "" : ",";
        IsFirst = false;
        Result += Address.empty() ? Name.str()
                                  : "\x1b]8;;" + Address + "\x1b\\" +
                                        Name.str() + "\x1b]8;;\x1b\\";
      }
      Result += "]";
      Result += Behind;
    }
    if (End != StringRef::npos)
      Result += '\n';
  }
  return Result;
}

} // namespace torchtidy::tool

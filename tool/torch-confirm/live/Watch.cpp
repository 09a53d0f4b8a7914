#include "live/Watch.h"
#include "live/Screen.h"
#include <clocale>
#include <cstring>
#include <langinfo.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

bool isUnicode() {
  // Numbers are written as before: only what characters are is asked.
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

LiveViewOptions optionsOf(const WatchSettings &How) {
  LiveViewOptions Result;
  Result.Color = How.Color;
  Result.Unicode = isUnicode();
  return Result;
}

void print(int File, const std::string &Line) {
  const std::string Text = Line + '\n';
  (void)!write(File, Text.data(), Text.size());
}

} // namespace

int watch(const std::function<std::optional<LiveLook>()> &Look,
          const std::function<bool()> &IsAlive, const WatchSettings &How) {
  LiveView View(optionsOf(How));
  std::vector<std::string> Last;
  bool IsTerminal = false;
  {
    Screen On(How.File, How.ReadsKeys);
    IsTerminal = On.isTerminal();
    while (IsAlive()) {
      if (auto Next = Look()) {
        View.take(std::move(*Next));
        if (!IsTerminal)
          print(How.File, View.line());
      }
      Screen::Woken Why;
      do {
        View.resize(On.columns(), On.rows());
        Last =
            View.lines(How.Output ? How.Output() : std::vector<std::string>());
        if (Last.empty())
          Last = {"no operation of LibTorch has run yet"};
        if (IsTerminal)
          On.show(Last);
        Why = On.wait(How.Seconds);
      } while (Why == Screen::Woken::Size);
      if (Why != Screen::Woken::End)
        continue;
      const int Signal = On.takeSignal();
      if (!Signal || !How.OnSignal || !How.OnSignal(Signal))
        return Signal;
    }
  }
  // What was seen last stays, where nothing else tells of the end.
  if (IsTerminal && !How.Output)
    for (const std::string &Line : Last)
      print(How.File, Line);
  return 0;
}

std::string lookText(LiveLook Look, const WatchSettings &How) {
  LiveViewOptions Options = optionsOf(How);
  Options.Rows = 1000;
  LiveView View(Options);
  View.take(std::move(Look));
  std::string Text;
  for (const std::string &Line : View.lines())
    Text += Line + '\n';
  return Text;
}

} // namespace torchtidy::confirm

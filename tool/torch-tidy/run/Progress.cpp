#include "run/Progress.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace torchtidy::tool {

/// What is faster needs no words.
static constexpr std::chrono::seconds Silence{1};

Progress::Progress(ArrayRef<std::string> Sources)
    : Sources(Sources),
      IsLive(sys::Process::StandardErrIsDisplayed() &&
             sys::Process::GetEnv("TERM").value_or("dumb") != "dumb"),
      Start(std::chrono::steady_clock::now()) {}

void Progress::ended(size_t Source, size_t Findings) {
  ++NumEnded;
  NumFindings += Findings;
  Last = Source;
}

std::string describeSeconds(double Seconds) {
  const unsigned Whole = Seconds < 1 ? 1 : unsigned(std::lround(Seconds));
  if (Whole < 60)
    return std::to_string(Whole) + " s";
  return std::to_string(Whole / 60) + " min " + std::to_string(Whole % 60) +
         " s";
}

std::string Progress::line(size_t Running, size_t Paused) const {
  std::string Text;
  raw_string_ostream Out(Text);
  Out << '[' << NumEnded << '/' << Sources.size() << "] " << NumFindings
      << (NumFindings == 1 ? " finding" : " findings");
  if (Paused && Paused == Running) {
    Out << ", precompiling LibTorch's headers (once)";
  } else if (NumEnded) {
    const std::chrono::duration<double> Spent =
        std::chrono::steady_clock::now() - Start;
    const double Left = Spent.count() / NumEnded * (Sources.size() - NumEnded);
    Out << ", about " << describeSeconds(Left)
        << " left: " << sys::path::filename(Sources[Last]);
  }
  return Text;
}

void Progress::tick(size_t Running, size_t Paused) {
  if (!IsLive || std::chrono::steady_clock::now() - Start < Silence)
    return;
  // LLVM's own StandardErrColumns() knows no more than $COLUMNS.
  winsize Window = {};
  const unsigned Columns =
      ioctl(STDERR_FILENO, TIOCGWINSZ, &Window) == 0 ? Window.ws_col : 80;
  std::string Text = line(Running, Paused);
  if (Columns && Text.size() >= Columns)
    Text.resize(Columns - 1);
  if (Text == Drawn)
    return;
  // To the begin of the line; erases what follows.
  errs() << '\r' << Text << "\x1b[K";
  Drawn = std::move(Text);
}

void Progress::clear() {
  if (!Drawn.empty())
    errs() << "\r\x1b[K";
  Drawn.clear();
}

} // namespace torchtidy::tool

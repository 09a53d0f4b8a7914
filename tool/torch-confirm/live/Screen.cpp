#include "live/Screen.h"
#include <cerrno>
#include <chrono>
#include <cmath>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace torchtidy::confirm {

Screen::Screen(int Terminal, bool ReadsKeys)
    : Terminal(Terminal), IsTerminal(isatty(Terminal) == 1),
      ReadsKeys(ReadsKeys && IsTerminal && isatty(STDIN_FILENO) == 1) {
  sigset_t Read;
  sigemptyset(&Read);
  for (const int Each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
    sigaddset(&Read, Each);
  sigprocmask(SIG_BLOCK, &Read, &Before);
  Signals = signalfd(-1, &Read, SFD_CLOEXEC | SFD_NONBLOCK);
  enter();
}

Screen::~Screen() {
  leave();
  close(Signals);
  sigprocmask(SIG_SETMASK, &Before, nullptr);
}

void Screen::enter() {
  if (!IsTerminal)
    return;
  measure();
  if (ReadsKeys && tcgetattr(STDIN_FILENO, &Settings) == 0) {
    termios Raw = Settings;
    // Ctrl-C and Ctrl-Z are still signals.
    Raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    Raw.c_cc[VMIN] = 0;
    Raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &Raw);
  }
  // The other screen, without a cursor: what stood here comes back.
  write("\033[?1049h\033[?25l");
}

void Screen::leave() {
  if (!IsTerminal)
    return;
  write("\033[?25h\033[?1049l");
  if (ReadsKeys)
    tcsetattr(STDIN_FILENO, TCSANOW, &Settings);
}

void Screen::measure() {
  winsize Size = {};
  if (ioctl(Terminal, TIOCGWINSZ, &Size) != 0 || !Size.ws_col ||
      Size.ws_row < 2)
    return;
  Columns = Size.ws_col;
  Rows = Size.ws_row - 1u;
}

void Screen::show(const std::vector<std::string> &Lines) {
  std::string Text = "\033[H";
  for (const std::string &Line : Lines)
    Text += Line + "\033[K\n";
  write(Text + "\033[J");
}

void Screen::handle(int Which) {
  switch (Which) {
  case SIGWINCH:
    measure();
    return;
  case SIGTSTP:
    leave();
    // What is read here stops nobody by itself.
    raise(SIGSTOP);
    enter();
    return;
  default:
    Signal = Which;
  }
}

Screen::Woken Screen::wait(double Seconds) {
  using Clock = std::chrono::steady_clock;
  const auto Until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(Seconds));
  for (;;) {
    const auto Left =
        std::chrono::duration<double, std::milli>(Until - Clock::now()).count();
    if (Left <= 0)
      return Woken::Time;
    pollfd Files[] = {{Signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (poll(Files, ReadsKeys ? 2 : 1, int(std::ceil(Left))) < 0 &&
        errno != EINTR)
      return Woken::End;
    signalfd_siginfo Info;
    if (read(Signals, &Info, sizeof(Info)) == sizeof(Info)) {
      handle(int(Info.ssi_signo));
      return Signal ? Woken::End : Woken::Size;
    }
    char Key = 0;
    if (ReadsKeys && (Files[1].revents & (POLLIN | POLLHUP))) {
      if (::read(STDIN_FILENO, &Key, 1) <= 0)
        ReadsKeys = false;
      else if (Key == 'q' || Key == 'Q')
        return Woken::End;
    }
  }
}

void Screen::write(const std::string &Text) const {
  for (size_t Done = 0; Done < Text.size();) {
    const ssize_t Now =
        ::write(Terminal, Text.data() + Done, Text.size() - Done);
    if (Now < 0 && errno != EINTR)
      return;
    Done += Now > 0 ? size_t(Now) : 0;
  }
}

} // namespace torchtidy::confirm

#include "run/Witness.h"
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

struct Note {
  int Signal;
  pid_t Sender;
};

/// All who are sent a signal are sent it before the sender goes on; it may take
/// a moment until each of them runs.
constexpr int MillisecondsToSee = 200;

[[noreturn]] void note(const sigset_t &Noted, int Into) {
  // It holds nothing open that is the program's.
  const int Most = static_cast<int>(sysconf(_SC_OPEN_MAX));
  for (int File = 0; File < (Most > 0 && Most < 4096 ? Most : 4096); ++File)
    if (File != Into)
      close(File);
  for (;;) {
    siginfo_t Info;
    if (sigwaitinfo(&Noted, &Info) <= 0)
      continue;
    const Note New = {Info.si_signo, Info.si_pid};
    if (write(Into, &New, sizeof(New)) != sizeof(New))
      _exit(0);
  }
}

} // namespace

Witness::Witness(const sigset_t &Noted) {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC) != 0)
    return;
  const pid_t Parent = getpid();
  Process = fork();
  if (Process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(0);
    note(Noted, Ends[1]);
  }
  close(Ends[1]);
  Notes = Ends[0];
}

Witness::~Witness() {
  if (Notes >= 0)
    close(Notes);
  if (Process <= 0)
    return;
  kill(Process, SIGKILL);
  while (waitpid(Process, nullptr, 0) < 0 && errno == EINTR)
    ;
}

bool Witness::hasSeen(const siginfo_t &Info) const {
  pollfd Wait = {Notes, POLLIN, 0};
  // Notes of what was seen here, too, are read in the same order.
  while (Process > 0 && poll(&Wait, 1, MillisecondsToSee) > 0) {
    Note Read;
    if (read(Notes, &Read, sizeof(Read)) != sizeof(Read))
      return false;
    if (Read.Signal == Info.si_signo && Read.Sender == Info.si_pid)
      return true;
  }
  return false;
}

} // namespace torchtidy::confirm

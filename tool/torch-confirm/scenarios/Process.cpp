#include "scenarios/Process.h"
#include "cli/Errors.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchtidy::confirm::scenarios {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void become(const std::vector<std::string> &Command,
                         const std::filesystem::path &Folder, int Out,
                         int Error) {
  // Its own group, so that what it starts ends with it.
  setpgid(0, 0);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(Out, STDOUT_FILENO);
  dup2(Error, STDERR_FILENO);
  std::vector<char *> Words;
  for (const std::string &Word : Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  if (Folder.empty() || chdir(Folder.c_str()) == 0)
    execvp(Words[0], Words.data());
  const std::string Message = Command[0] + ": " + std::strerror(errno) + "\n";
  [[maybe_unused]] auto Written =
      write(STDERR_FILENO, Message.data(), Message.size());
  _exit(127);
}

/// False at the end.
bool readSome(int Pipe, std::string &Into, std::string &All) {
  char Buffer[1 << 14];
  const ssize_t Count = read(Pipe, Buffer, sizeof(Buffer));
  if (Count <= 0)
    return Count < 0 && errno == EINTR;
  Into.append(Buffer, Count);
  All.append(Buffer, Count);
  return true;
}

} // namespace

Finished execute(const std::vector<std::string> &Command, unsigned Seconds,
                 const std::filesystem::path &Folder) {
  int Out[2], Error[2];
  if (pipe2(Out, O_CLOEXEC) != 0 || pipe2(Error, O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe: ") + std::strerror(errno));
  const pid_t Child = fork();
  if (Child < 0)
    throw UserError(std::string("no process: ") + std::strerror(errno));
  if (Child == 0)
    become(Command, Folder, Out[1], Error[1]);
  close(Out[1]);
  close(Error[1]);

  Finished Result;
  std::string Errors;
  pollfd Pipes[] = {{Out[0], POLLIN, 0}, {Error[0], POLLIN, 0}};
  const auto Deadline = Clock::now() + std::chrono::seconds(Seconds);
  while (Pipes[0].fd >= 0 || Pipes[1].fd >= 0) {
    const auto Left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          Deadline - Clock::now())
                          .count();
    if (Left <= 0) {
      Result.TimedOut = true;
      kill(-Child, SIGKILL);
      break;
    }
    if (poll(Pipes, 2, static_cast<int>(Left)) < 0 && errno != EINTR)
      break;
    for (int I = 0; I < 2; ++I)
      if (Pipes[I].fd >= 0 && Pipes[I].revents &&
          !readSome(Pipes[I].fd, I == 0 ? Result.Output : Errors, Result.All))
        Pipes[I].fd = -1;
  }
  close(Out[0]);
  close(Error[0]);
  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  Result.Code =
      WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status);
  return Result;
}

std::string shown(const std::vector<std::string> &Command) {
  std::string Result;
  for (const std::string &Word : Command)
    Result += (Result.empty() ? "" : " ") + Word;
  return Result;
}

} // namespace torchtidy::confirm::scenarios

#include "run/Capture.h"
#include "cli/Errors.h"
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

[[noreturn]] void
become(const std::vector<std::string> &Command, const std::string &Input,
       const std::vector<std::pair<std::string, std::string>> &Settings,
       int Output, int Errors) {
  dup2(open(Input.c_str(), O_RDONLY), STDIN_FILENO);
  dup2(Output, STDOUT_FILENO);
  dup2(Errors, STDERR_FILENO);
  for (const auto &[Name, Value] : Settings)
    setenv(Name.c_str(), Value.c_str(), 1);
  std::vector<char *> Words;
  for (const std::string &Word : Command)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  execvp(Words[0], Words.data());
  const char *Why = std::strerror(errno);
  [[maybe_unused]] auto Written = write(STDERR_FILENO, Why, std::strlen(Why));
  _exit(127);
}

} // namespace

Captured
capture(const std::vector<std::string> &Command, const std::string &Input,
        const std::vector<std::pair<std::string, std::string>> &Settings) {
  int Out[2], Error[2];
  if (pipe2(Out, O_CLOEXEC) != 0 || pipe2(Error, O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe: ") + std::strerror(errno));
  const pid_t Child = fork();
  if (Child < 0)
    throw UserError(std::string("no process: ") + std::strerror(errno));
  if (Child == 0)
    become(Command, Input, Settings, Out[1], Error[1]);
  close(Out[1]);
  close(Error[1]);

  Captured Result;
  std::array<pollfd, 2> Pipes = {pollfd{Out[0], POLLIN, 0},
                                 pollfd{Error[0], POLLIN, 0}};
  std::array<std::string *, 2> Texts = {&Result.Output, &Result.Errors};
  while (Pipes[0].fd >= 0 || Pipes[1].fd >= 0) {
    if (poll(Pipes.data(), Pipes.size(), -1) < 0 && errno != EINTR)
      break;
    for (size_t I = 0; I < Pipes.size(); ++I) {
      if (Pipes[I].fd < 0 || !Pipes[I].revents)
        continue;
      char Buffer[1 << 14];
      const ssize_t Count = read(Pipes[I].fd, Buffer, sizeof(Buffer));
      if (Count > 0)
        Texts[I]->append(Buffer, Count);
      else if (Count == 0 || errno != EINTR)
        Pipes[I].fd = -1;
    }
  }
  close(Out[0]);
  close(Error[0]);
  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  Result.Code =
      WIFSIGNALED(Status) ? 128 + WTERMSIG(Status) : WEXITSTATUS(Status);
  return Result;
}

TemporaryFolder::TemporaryFolder() {
  Path = (fs::temp_directory_path() / "torch-confirm-XXXXXX").string();
  if (!mkdtemp(Path.data()))
    throw UserError("cannot make a folder in " +
                    fs::temp_directory_path().string() + ": " +
                    std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code Ignored;
  fs::remove_all(Path, Ignored);
}

} // namespace torchtidy::confirm

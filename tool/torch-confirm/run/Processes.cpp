#include "run/Processes.h"
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

struct Status {
  Process Which;
  char State = 0;
  pid_t Parent = 0, Session = 0;
};

std::string contentOf(const std::string &File) {
  std::ifstream Stream(File, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(Stream), {});
}

std::optional<Status> statusOf(pid_t Id) {
  const std::string Text = contentOf("/proc/" + std::to_string(Id) + "/stat");
  // "12 (any (name)) S 1 ..."
  const size_t Name = Text.rfind(')');
  if (Name == std::string::npos)
    return std::nullopt;
  std::istringstream Fields(Text.substr(Name + 1));
  Status Result;
  pid_t Group = 0;
  Fields >> Result.State >> Result.Parent >> Group >> Result.Session;
  std::string Other;
  for (int Field = 7; Field < 22; ++Field)
    Fields >> Other;
  Fields >> Result.Which.StartedAt;
  Result.Which.Id = Id;
  if (!Fields || Result.State == 'Z' || Result.State == 'X')
    return std::nullopt;
  return Result;
}

/// Each variable between two zero bytes.
std::string environmentOf(pid_t Id) {
  return '\0' + contentOf("/proc/" + std::to_string(Id) + "/environ");
}

bool hasVariable(pid_t Id, const std::string &Variable) {
  return environmentOf(Id).find('\0' + Variable + '\0') != std::string::npos;
}

std::vector<Status> allProcesses() {
  std::vector<Status> Result;
  std::error_code Error;
  for (fs::directory_iterator At("/proc", Error), End; !Error && At != End;
       At.increment(Error)) {
    const std::string Name = At->path().filename().string();
    pid_t Id = 0;
    const auto Read =
        std::from_chars(Name.data(), Name.data() + Name.size(), Id);
    if (Read.ec == std::errc() && Read.ptr == Name.data() + Name.size())
      if (const auto Known = statusOf(Id))
        Result.push_back(*Known);
  }
  return Result;
}

} // namespace

std::vector<Process> processesOf(pid_t Root, const std::string &Variable) {
  const std::vector<Status> All = allProcesses();
  const pid_t Session = getsid(0);
  std::set<pid_t> Found;
  for (const Status &Each : All)
    if (Each.Which.Id == Root ||
        (Each.Session == Session && Each.Which.Id != getpid() &&
         !Variable.empty() && hasVariable(Each.Which.Id, Variable)))
      Found.insert(Each.Which.Id);
  for (size_t Before = 0; Before != Found.size();) {
    Before = Found.size();
    for (const Status &Each : All)
      if (Found.count(Each.Parent))
        Found.insert(Each.Which.Id);
  }
  std::vector<Process> Result;
  for (const Status &Each : All)
    if (Found.count(Each.Which.Id))
      Result.push_back(Each.Which);
  return Result;
}

std::vector<WatchedProcess> processesWith(const std::string &Name) {
  std::vector<WatchedProcess> Result;
  const std::string Begin = '\0' + Name + '=';
  for (const Status &Each : allProcesses()) {
    // Of another user's it is empty.
    const std::string All = environmentOf(Each.Which.Id);
    const size_t At = All.find(Begin);
    if (At != std::string::npos)
      Result.push_back({Each.Which.Id, All.c_str() + At + Begin.size()});
  }
  std::sort(Result.begin(), Result.end(),
            [](const auto &A, const auto &B) { return A.Id < B.Id; });
  return Result;
}

bool isAlive(const Process &Which) {
  const auto Now = statusOf(Which.Id);
  return Now && Now->Which.StartedAt == Which.StartedAt;
}

} // namespace torchtidy::confirm

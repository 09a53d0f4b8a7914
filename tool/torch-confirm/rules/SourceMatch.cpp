#include "rules/SourceMatch.h"
#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

std::vector<std::string> parts(const fs::path &Path) {
  std::vector<std::string> Result;
  for (const fs::path &Part : Path.lexically_normal())
    if (Part != "/" && Part != "." && !Part.empty())
      Result.push_back(Part.string());
  return Result;
}

size_t commonEnd(const std::vector<std::string> &A,
                 const std::vector<std::string> &B) {
  const auto Differ = std::mismatch(A.rbegin(), A.rend(), B.rbegin(), B.rend());
  return Differ.first - A.rbegin();
}

bool exists(const std::string &File) {
  std::error_code Ignored;
  return fs::exists(File, Ignored);
}

} // namespace

SourceMatch::SourceMatch(const Recording &Run) {
  for (const Site &S : Run.Sites)
    for (const SourceLine &Line : S.Stack)
      Files.insert(Line.File);
  for (const LineHits &Line : Run.Lines)
    Files.insert(Line.File);
  for (const SanitizerReport &Report : Run.SanitizerReports)
    for (const auto *Stack : {&Report.Use, &Report.Freed, &Report.Allocated})
      for (const SourceLine &Line : *Stack)
        Files.insert(Line.File);
}

std::optional<std::string> SourceMatch::find(const std::string &File) const {
  auto [It, IsNew] = Known.try_emplace(File);
  if (IsNew)
    It->second = search(File);
  return It->second;
}

std::optional<std::string> SourceMatch::search(const std::string &File) const {
  if (File.empty())
    return std::nullopt;
  if (Files.count(File))
    return File;
  const bool IsThere = exists(File);
  std::error_code Ignored;
  const auto Wanted = parts(File);
  size_t Most = 0;
  std::vector<std::string> Best;
  for (const std::string &Other : Files) {
    const auto Candidate = parts(Other);
    const size_t Common = commonEnd(Wanted, Candidate);
    if (Common == 0)
      continue;
    const bool OtherIsThere = exists(Other);
    if (IsThere && OtherIsThere) {
      if (fs::equivalent(File, Other, Ignored))
        return Other;
      continue;
    }
    // A path that is relative is a part of the other one.
    const size_t Least = std::min({size_t(2), Wanted.size(), Candidate.size()});
    if (Common < Least)
      continue;
    if (Common > Most)
      Best.clear();
    if (Common >= Most)
      Best.push_back(Other);
    Most = std::max(Most, Common);
  }
  if (Best.size() != 1)
    return std::nullopt;
  return Best.front();
}

} // namespace torchtidy::confirm

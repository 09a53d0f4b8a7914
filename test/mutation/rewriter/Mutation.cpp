#include "Mutation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace torchtidy::mutation {

namespace {

std::vector<Edit> editsOf(const Mutation &What, const std::string &File) {
  std::vector<Edit> Result;
  for (const Edit &Each : What.Edits)
    if (Each.Where.File == File)
      Result.push_back(Each);
  std::stable_sort(Result.begin(), Result.end(),
                   [](const Edit &A, const Edit &B) {
                     return A.Where.Offset < B.Where.Offset;
                   });
  return Result;
}

unsigned lineAt(llvm::StringRef Text, unsigned Offset) {
  return 1 + Text.take_front(Offset).count('\n');
}

/// Where a byte of the old text lies in the new one.
unsigned shifted(llvm::ArrayRef<Edit> Edits, unsigned Offset) {
  long Shift = 0;
  for (const Edit &Each : Edits) {
    if (Each.Where.end() <= Offset)
      Shift += long(Each.Text.size()) - long(Each.Where.Length);
    else if (Each.Where.Offset < Offset)
      Offset = Each.Where.Offset;
  }
  return unsigned(long(Offset) + Shift);
}

llvm::json::Object lines(const std::string &File, llvm::StringRef Text,
                         unsigned Begin, unsigned End) {
  return llvm::json::Object{{"file", File},
                            {"first", lineAt(Text, Begin)},
                            {"last", lineAt(Text, End)}};
}

} // namespace

std::string Mutation::key() const {
  std::vector<std::string> Parts;
  for (const Edit &Each : Edits)
    Parts.push_back(Each.Where.File + ":" + std::to_string(Each.Where.Offset) +
                    "+" + std::to_string(Each.Where.Length) + Each.Text);
  llvm::sort(Parts);
  std::string Result = Operator;
  for (const std::string &Part : Parts)
    Result += "\n" + Part;
  return Result;
}

llvm::Expected<Mutant> apply(const Mutation &What, const Files &Sources) {
  Mutant Result;
  std::map<std::string, std::vector<Edit>> Applied;
  llvm::json::Array Expected, Before;
  std::set<std::tuple<std::string, unsigned, unsigned>> Seen;
  for (const auto &[File, Old] : Sources) {
    std::vector<Edit> &Edits = Applied[File] = editsOf(What, File);
    std::string New;
    unsigned From = 0;
    std::vector<std::pair<unsigned, unsigned>> Inserted;
    for (const Edit &Each : Edits) {
      if (Each.Where.Offset < From || Each.Where.end() > Old.size())
        return llvm::createStringError("edits overlap in " + File);
      New += Old.substr(From, Each.Where.Offset - From);
      if (Each.Expected)
        Inserted.emplace_back(New.size() + Each.Text.find_first_not_of(" \n"),
                              New.size() + Each.Text.size());
      New += Each.Text;
      From = Each.Where.end();
    }
    New += Old.substr(From);
    for (auto [Begin, End] : Inserted)
      Expected.push_back(lines(File, New, Begin, End));
    if (New != Old)
      Result.Changed[File] = New;
  }
  for (const Piece &Region : What.Expected) {
    auto Source = Sources.find(Region.File);
    if (Source == Sources.end())
      continue;
    const auto &Edits = Applied[Region.File];
    auto Changed = Result.Changed.find(Region.File);
    const std::string &Text =
        Changed == Result.Changed.end() ? Source->second : Changed->second;
    unsigned Begin = shifted(Edits, Region.Offset),
             End = shifted(Edits, Region.end());
    if (!Seen.emplace(Region.File, Region.Offset, Region.end()).second)
      continue;
    Expected.push_back(lines(Region.File, Text, Begin, End));
    Before.push_back(
        lines(Region.File, Source->second, Region.Offset, Region.end()));
  }
  auto Source = Sources.find(What.Point.File);
  if (Source == Sources.end())
    return llvm::createStringError("no source " + What.Point.File);
  if (Before.empty())
    Before.push_back(lines(What.Point.File, Source->second, What.Point.Offset,
                           What.Point.end()));
  llvm::StringRef Text = Source->second;
  unsigned Line = lineAt(Text, What.Point.Offset);
  llvm::StringRef Rest = Text.take_front(What.Point.Offset);
  size_t Begin =
      Rest.rfind('\n') == llvm::StringRef::npos ? 0 : Rest.rfind('\n') + 1;
  Result.Description = llvm::json::Object{
      {"operator", What.Operator},
      {"checks", llvm::json::Array(What.Checks)},
      {"file", What.Point.File},
      {"line", Line},
      {"text", Text.substr(Begin).split('\n').first.trim().str()},
      {"what", What.What},
      {"expected", std::move(Expected)},
      {"before", std::move(Before)}};
  return Result;
}

} // namespace torchtidy::mutation

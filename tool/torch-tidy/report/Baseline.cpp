#include "report/Baseline.h"
#include "Messages.h"
#include "inputs/Json.h"
#include "inputs/Tree.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

constexpr int64_t Version = 1;

static bool belongs(const ClangTidyError &Finding) {
  return !Finding.Message.FilePath.empty() &&
         Finding.DiagLevel != ClangTidyError::Error;
}

Baseline::Baseline(StringRef File, IntrusiveRefCntPtr<vfs::FileSystem> FS)
    : File(File),
      Where(sys::path::parent_path(absolutePath(File)), std::move(FS)) {}

Baseline::Key Baseline::keyOf(const ClangTidyError &Finding) {
  // JSON has no bytes that are not UTF-8.
  return {json::fixUTF8(
              Where.name(Finding.Message.FilePath, Finding.BuildDirectory)),
          json::fixUTF8(Where.line(Finding)), Finding.DiagnosticName};
}

bool Baseline::read() {
  auto Text = MemoryBuffer::getFile(File);
  if (!Text) {
    error() << "cannot read the baseline '" << File
            << "': " << Text.getError().message()
            << "; --write-baseline makes one\n";
    return false;
  }
  auto Broken = [&](const Twine &Reason) {
    error() << "'" << File << "' is no baseline of torch-tidy: " << Reason
            << "; --write-baseline makes one\n";
    return false;
  };
  Expected<json::Value> Parsed = parseJson((*Text)->getBuffer());
  if (!Parsed)
    return Broken(toString(Parsed.takeError()));
  const json::Object *Root = Parsed->getAsObject();
  const json::Array *All = Root ? Root->getArray("findings") : nullptr;
  if (!All)
    return Broken("it has no 'findings'");
  if (Root->getInteger("version") != Version)
    return Broken("its version is not 1");
  for (const json::Value &Each : *All) {
    const json::Object *Entry = Each.getAsObject();
    const auto Path = Entry ? Entry->getString("file") : std::nullopt;
    const auto Line = Entry ? Entry->getString("line") : std::nullopt;
    const auto Check = Entry ? Entry->getString("check") : std::nullopt;
    const int64_t Count =
        Entry ? Entry->getInteger("count").value_or(1) : int64_t(0);
    // More findings of one line than this no file has.
    constexpr int64_t Most = 1'000'000;
    if (!Path || !Line || !Check || Count < 1 || Count > Most)
      return Broken(formatv("entry {0} lacks 'file', 'line' or 'check'",
                            &Each - &All->front() + 1));
    Known[{Path->str(), Line->str(), Check->str()}] += Count;
  }
  return true;
}

void Baseline::add(const Findings &All) {
  for (const ClangTidyError &Finding : All)
    if (belongs(Finding))
      ++Known[keyOf(Finding)];
}

void Baseline::write(raw_ostream &OS) const {
  json::Array All;
  for (const auto &[Key, Count] : Known) {
    const auto &[Path, Line, Check] = Key;
    json::Object Entry{{"file", Path}, {"line", Line}, {"check", Check}};
    if (Count > 1)
      Entry["count"] = Count;
    All.push_back(std::move(Entry));
  }
  OS << formatv("{0:2}",
                json::Value(json::Object{{"version", Version},
                                         {"findings", std::move(All)}}))
     << '\n';
}

unsigned Baseline::subtract(Findings &All) {
  const size_t Before = All.size();
  llvm::erase_if(All, [&](const ClangTidyError &Finding) {
    if (!belongs(Finding))
      return false;
    auto It = Known.find(keyOf(Finding));
    if (It == Known.end() || !It->second)
      return false;
    --It->second;
    return true;
  });
  return Before - All.size();
}

unsigned Baseline::numGone(ArrayRef<std::string> Sources) const {
  StringSet<> Analysed;
  for (const std::string &Source : Sources)
    Analysed.insert(json::fixUTF8(Where.name(Source, "")));
  unsigned Result = 0;
  for (const auto &[Key, Count] : Known)
    if (Analysed.contains(std::get<0>(Key)))
      Result += Count;
  return Result;
}

unsigned Baseline::size() const {
  unsigned Result = 0;
  for (const auto &[Key, Count] : Known)
    Result += Count;
  return Result;
}

} // namespace torchtidy::tool

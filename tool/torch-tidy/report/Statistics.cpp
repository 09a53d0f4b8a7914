#include "report/Formats.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

void writeStatistics(raw_ostream &OS, Format Which, const Findings &All) {
  struct Row {
    StringRef Check;
    unsigned Count = 0, Fixable = 0;
  };
  std::map<StringRef, Row> ByCheck;
  for (const ClangTidyError &Finding : All) {
    Row &Here = ByCheck[Finding.DiagnosticName];
    Here.Check = Finding.DiagnosticName;
    ++Here.Count;
    Here.Fixable += !Finding.Message.Fix.empty();
  }
  std::vector<Row> Rows;
  for (const auto &[Name, Each] : ByCheck)
    Rows.push_back(Each);
  llvm::stable_sort(
      Rows, [](const Row &A, const Row &B) { return A.Count > B.Count; });
  for (const Row &Each : Rows) {
    const std::optional<unsigned> Level = levelOf(Each.Check);
    if (Which == Format::JsonLines) {
      json::Object Object{{"check", Each.Check},
                          {"count", Each.Count},
                          {"fixable", Each.Fixable}};
      if (Level)
        Object["level"] = *Level;
      OS << json::Value(std::move(Object)) << '\n';
      continue;
    }
    OS << format_decimal(Each.Count, 5) << "  "
       << (Level ? "level " + std::to_string(*Level) : "       ") << "  "
       << Each.Check;
    if (Each.Fixable)
      OS << "  (" << Each.Fixable << " with a fix)";
    OS << '\n';
  }
}

} // namespace torchtidy::tool

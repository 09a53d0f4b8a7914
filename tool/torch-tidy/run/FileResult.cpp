#include "run/FileResult.h"
#include "cache/Bytes.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

template <class Stream>
void visit(Stream &S, StringMap<tooling::Replacements> &Fixes) {
  struct Edit {
    std::string Path, Text;
    unsigned Offset = 0, Length = 0;
  };
  std::vector<std::pair<std::string, std::vector<Edit>>> Files;
  for (const auto &Entry : Fixes) {
    auto &[File, Edits] = Files.emplace_back();
    File = Entry.first().str();
    for (const tooling::Replacement &Each : Entry.second)
      Edits.push_back({Each.getFilePath().str(),
                       Each.getReplacementText().str(), Each.getOffset(),
                       Each.getLength()});
  }
  S.list(Files, [&](auto &Entry) {
    S.text(Entry.first);
    S.list(Entry.second, [&](Edit &Each) {
      S.text(Each.Path);
      S.integer(Each.Offset);
      S.integer(Each.Length);
      S.text(Each.Text);
    });
  });
  if constexpr (Stream::IsReading)
    for (auto &[File, Edits] : Files)
      for (Edit &Each : Edits)
        // They were accepted in this order before.
        if (Error Conflict = Fixes[File].add(tooling::Replacement(
                Each.Path, Each.Offset, Each.Length, Each.Text))) {
          consumeError(std::move(Conflict));
          S.fail();
        }
}

template <class Stream> void visit(Stream &S, tooling::FileByteRange &Range) {
  S.text(Range.FilePath);
  S.integer(Range.FileOffset);
  S.integer(Range.Length);
}

template <class Stream>
void visit(Stream &S, tooling::DiagnosticMessage &Message) {
  S.text(Message.Message);
  S.text(Message.FilePath);
  S.integer(Message.FileOffset);
  visit(S, Message.Fix);
  S.list(Message.Ranges,
         [&](tooling::FileByteRange &Range) { visit(S, Range); });
}

template <class Stream>
void visit(Stream &S, tooling::Diagnostic::Level &Level) {
  auto Number = uint64_t(Level);
  S.integer(Number);
  if constexpr (Stream::IsReading) {
    const bool IsOne = Number == tooling::Diagnostic::Remark ||
                       Number == tooling::Diagnostic::Warning ||
                       Number == tooling::Diagnostic::Error;
    if (!IsOne)
      return S.fail();
    Level = tooling::Diagnostic::Level(Number);
  }
}

template <class Stream> void visit(Stream &S, tidy::ClangTidyError &Finding) {
  S.text(Finding.DiagnosticName);
  visit(S, Finding.Message);
  S.list(Finding.Notes,
         [&](tooling::DiagnosticMessage &Note) { visit(S, Note); });
  visit(S, Finding.DiagLevel);
  S.text(Finding.BuildDirectory);
  S.integer(Finding.IsWarningAsError);
  S.list(Finding.EnabledDiagnosticAliases,
         [&](std::string &Alias) { S.text(Alias); });
}

/// A finding has no constructor without arguments.
struct AnyFinding : tidy::ClangTidyError {
  AnyFinding() : ClangTidyError("", Warning, "", false) {}
};

template <class Stream, class List>
void visit(Stream &S, FileResult &Result, List &Findings) {
  S.list(Findings, [&](tidy::ClangTidyError &Finding) { visit(S, Finding); });
  S.list(Result.Evidences, [&](Evidence &Each) {
    S.text(Each.Check);
    S.text(Each.FilePath);
    S.text(Each.Message);
    S.text(Each.Folder);
    S.integer(Each.FileOffset);
    S.text(Each.Kind);
    S.list(Each.Notes, [&](NoteEvidence &Note) {
      S.text(Note.FilePath);
      S.integer(Note.FileOffset);
      S.text(Note.Role);
    });
    visit(S, Each.Loop);
    visit(S, Each.IterationSite);
  });
  S.list(Result.Shortfalls, [&](Shortfall &Each) {
    S.text(Each.Place);
    S.text(Each.Name);
    S.integer(Each.Left);
    S.integer(Each.IsTemplate);
  });
  S.list(Result.UserFiles, [&](std::string &Each) { S.text(Each); });
  S.list(Result.Written, [&](WrittenName &Each) {
    S.text(Each.Name);
    S.text(Each.Stem);
    S.integer(Each.IsClass);
    S.integer(Each.IsMentioned);
    S.list(Each.Declarations,
           [&](tooling::FileByteRange &Range) { visit(S, Range); });
  });
  S.list(Result.Hidden, [&](HiddenCode &Each) {
    S.text(Each.Path);
    S.integer(Each.Line);
    S.integer(Each.Lines);
    S.text(Each.Condition);
    S.text(Each.Macro);
  });
  S.list(Result.Nolints, [&](NolintName &Each) {
    S.text(Each.Text);
    S.text(Each.Word);
    S.text(Each.FilePath);
    S.text(Each.Folder);
    S.integer(Each.FileOffset);
    S.integer(Each.IsInHeader);
    S.integer(Each.Is);
    S.integer(Each.IsError);
  });
  S.text(Result.Defined);
  for (unsigned *Number :
       {&Result.Stats.ErrorsDisplayed, &Result.Stats.ErrorsIgnoredCheckFilter,
        &Result.Stats.ErrorsIgnoredNOLINT,
        &Result.Stats.ErrorsIgnoredNonUserCode,
        &Result.Stats.ErrorsIgnoredLineFilter, &Result.Functions,
        &Result.Unanalysed, &Result.Warnings, &Result.Errors})
    S.integer(*Number);
  S.integer(Result.UsesNoLibTorch);
  S.text(Result.Failure);
  S.text(Result.Trouble);
  S.text(Result.Explained);
  S.integer(Result.MayBeKept);
  visit(S, Result.Read);
  S.list(Result.Headers, [&](auto &Header) {
    S.text(Header.first);
    S.text(Header.second);
  });
}

} // namespace

std::string encode(const FileResult &Result) {
  Writer Out;
  // The visitor is the same for both ways; writing changes nothing.
  FileResult &Source = const_cast<FileResult &>(Result);
  visit(Out, Source, Source.Findings);
  return std::move(Out.Bytes);
}

std::optional<FileResult> decode(StringRef Bytes) {
  Reader In(Bytes);
  FileResult Result;
  std::vector<AnyFinding> Findings;
  visit(In, Result, Findings);
  if (In.hasFailed())
    return std::nullopt;
  for (AnyFinding &Finding : Findings)
    Result.Findings.push_back(std::move(Finding));
  return Result;
}

} // namespace torchtidy::tool

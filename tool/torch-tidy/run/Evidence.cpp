#include "run/Evidence.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::tool {

static tooling::FileByteRange
rangeOf(const SourceManager &SM, SourceLocation Begin, SourceLocation End) {
  tooling::FileByteRange Result;
  Result.FileOffset = Result.Length = 0;
  if (Begin.isInvalid())
    return Result;
  Begin = SM.getFileLoc(Begin);
  Result.FilePath = SM.getFilename(Begin).str();
  Result.FileOffset = SM.getFileOffset(Begin);
  if (End.isInvalid())
    return Result;
  End = SM.getFileLoc(End);
  if (SM.getFileID(Begin) == SM.getFileID(End) &&
      SM.getFileOffset(End) >= Result.FileOffset)
    Result.Length = SM.getFileOffset(End) - Result.FileOffset +
                    Lexer::MeasureTokenLength(End, SM, LangOptions());
  return Result;
}

void EvidenceCollector::found(const model::Finding &Finding,
                              const SourceManager &SM) {
  // As clang-tidy finds the place of a diagnostic.
  const tooling::FileByteRange At = rangeOf(SM, Finding.Location, {});
  const auto Folder =
      SM.getFileManager().getVirtualFileSystem().getCurrentWorkingDirectory();
  All.push_back({Finding.Check.str(), At.FilePath, Folder ? *Folder : "",
                 At.FileOffset,
                 rangeOf(SM, Finding.Loop.getBegin(), Finding.Loop.getEnd()),
                 rangeOf(SM, Finding.IterationSite, {})});
}

} // namespace torchtidy::tool

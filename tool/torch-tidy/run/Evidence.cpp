#include "run/Evidence.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
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

/// The way in which clang-tidy looks for comments.
static void addPlaces(const model::Finding &Finding, const SourceManager &SM,
                      std::vector<Silenceable::Place> &Places) {
  SourceLocation At = Finding.Location;
  while (At.isValid()) {
    const SourceLocation Spelt = SM.getSpellingLoc(At);
    Places.push_back({Finding.Check.str(), SM.getFilename(Spelt).str(),
                      SM.getSpellingLineNumber(Spelt)});
    At = At.isMacroID() ? SM.getImmediateExpansionRange(At).getBegin()
                        : SourceLocation();
  }
}

void EvidenceCollector::found(const model::Finding &Finding,
                              const SourceManager &SM) {
  // As clang-tidy finds the place of a diagnostic.
  const tooling::FileByteRange At = rangeOf(SM, Finding.Location, {});
  const auto Folder =
      SM.getFileManager().getVirtualFileSystem().getCurrentWorkingDirectory();
  Evidence Result;
  Result.Check = Finding.Check.str();
  Result.FilePath = At.FilePath;
  Result.Message = Finding.Message;
  Result.Folder = Folder ? *Folder : "";
  Result.FileOffset = At.FileOffset;
  if (Finding.Kind)
    Result.Kind = infoOf(*Finding.Kind).Name;
  for (const model::Note &Note : Finding.Notes) {
    const tooling::FileByteRange Place = rangeOf(SM, Note.Location, {});
    Result.Notes.push_back({Place.FilePath, Place.FileOffset,
                            std::string(infoOf(Note.Role).Name)});
  }
  Result.Loop = rangeOf(SM, Finding.Loop.getBegin(), Finding.Loop.getEnd());
  Result.IterationSite = rangeOf(SM, Finding.IterationSite, {});
  All.push_back(std::move(Result));
  addPlaces(Finding, SM, OfComments.Places);
}

void EvidenceCollector::leftOut(const model::Shortfall &Of) {
  const FunctionDecl &Function = *Of.Function;
  const SourceManager &SM = Function.getASTContext().getSourceManager();
  const SourceLocation At = SM.getExpansionLoc(Function.getLocation());
  Shortfalls.push_back(
      {SM.getFilename(At).str() + ":" +
           std::to_string(SM.getExpansionLineNumber(At)),
       Function.getQualifiedNameAsString(), Of.Left,
       Of.Left == model::Shortfall::All && Function.isDependentContext()});
  OfComments.IsTooLarge |= !Shortfalls.back().IsTemplate;
}

} // namespace torchtidy::tool

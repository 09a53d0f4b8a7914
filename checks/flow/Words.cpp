#include "flow/Words.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::flow {

Words::Words(const UserFunctions &Functions, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    const auto Start = SourceLocation::getFromRawEncoding(Entry.getOffset());
    if (Entry.isFile() && Functions.isUserCode(Start))
      add(SM.getFileID(Start), SM, Context.getLangOpts());
  }
}

llvm::ArrayRef<SourceLocation> Words::places(StringRef Name) const {
  const auto Found = Places.find(Name);
  if (Found == Places.end())
    return {};
  return Found->second;
}

void Words::add(FileID File, const SourceManager &SM,
                const LangOptions &Language) {
  const std::optional<llvm::MemoryBufferRef> Text = SM.getBufferOrNone(File);
  if (!Text)
    return;
  Lexer Reader(SM.getLocForStartOfFile(File), Language, Text->getBufferStart(),
               Text->getBufferStart(), Text->getBufferEnd());
  Token Next;
  while (!Reader.LexFromRawLexer(Next))
    if (Next.is(tok::raw_identifier))
      Places[Next.getRawIdentifier()].push_back(Next.getLocation());
}

} // namespace torchtidy::flow

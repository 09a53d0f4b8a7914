#include "flow/Words.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::flow {

void forEachWord(
    StringRef Text, const LangOptions &Language,
    llvm::function_ref<void(StringRef Word, unsigned Offset)> Meet) {
  // What a token's place is counted from does not matter: only its text is
  // asked for.
  Lexer Reader(SourceLocation::getFromRawEncoding(1), Language, Text.begin(),
               Text.begin(), Text.end());
  for (Token Next; !Reader.LexFromRawLexer(Next);)
    if (Next.is(tok::raw_identifier)) {
      const StringRef Word = Next.getRawIdentifier();
      Meet(Word, static_cast<unsigned>(Word.begin() - Text.begin()));
    }
}

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
  const SourceLocation Start = SM.getLocForStartOfFile(File);
  forEachWord(Text->getBuffer(), Language, [&](StringRef Word, unsigned At) {
    Places[Word].push_back(Start.getLocWithOffset(static_cast<int>(At)));
  });
}

} // namespace torchtidy::flow

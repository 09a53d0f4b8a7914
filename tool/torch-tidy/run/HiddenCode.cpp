#include "run/HiddenCode.h"
#include "torch/Text.h"
#include "torch/Types.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/DenseMap.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// "#  ifdef X // why" as "#ifdef X".
std::string directiveAt(StringRef Text) {
  StringRef Line = Text.take_until([](char C) { return C == '\n'; });
  Line = Line.split("//").first.split("/*").first.trim();
  Line.consume_front("#");
  return "#" + Line.trim().str();
}

/// X of "#ifdef X", "#if X", "#if defined(X)", "#if defined X".
std::string macroOf(StringRef Directive) {
  StringRef Rest = Directive;
  if (!Rest.consume_front("#ifdef") && !Rest.consume_front("#if"))
    return {};
  Rest = Rest.trim();
  if (Rest.consume_front("defined")) {
    Rest = Rest.trim();
    if (Rest.consume_front("(") && !Rest.consume_back(")"))
      return {};
    Rest = Rest.trim();
  }
  const auto IsOfName = [](char C) { return isAlnum(C) || C == '_'; };
  return !Rest.empty() && !isDigit(Rest.front()) && all_of(Rest, IsOfName)
             ? Rest.str()
             : std::string();
}

/// Each name in it once, in order, but for "defined".
std::vector<std::string> namesInDirective(StringRef Directive) {
  std::vector<std::string> Result;
  if (Directive.starts_with("#else") || Directive.starts_with("#ifndef"))
    return Result;
  StringRef Rest = Directive.drop_front(
      std::min(Directive.find_first_of(" \t(!"), Directive.size()));
  const auto IsOfName = [](char C) { return isAlnum(C) || C == '_'; };
  while (!Rest.empty()) {
    const StringRef Name = Rest.take_while(IsOfName);
    Rest = Rest.drop_front(std::max<size_t>(Name.size(), 1));
    if (!Name.empty() && !isDigit(Name.front()) && Name != "defined" &&
        !is_contained(Result, Name))
      Result.push_back(Name.str());
  }
  return Result;
}

class Watcher : public PPCallbacks {
public:
  Watcher(const SourceManager &SM, std::vector<HiddenCode> &Found)
      : SM(SM), Found(Found) {}

  void Else(SourceLocation, SourceLocation If) override { LastIf = If; }
  void Elif(SourceLocation, SourceRange, ConditionValueKind,
            SourceLocation If) override {
    LastIf = If;
  }

  void SourceRangeSkipped(SourceRange Range, SourceLocation) override {
    const SourceLocation Begin = Range.getBegin(), End = Range.getEnd();
    if (!Begin.isFileID() || SM.isInSystemHeader(Begin) ||
        torch::isLibraryPath(SM.getFilename(Begin)) || isReadAgain(Begin))
      return;
    const FileID File = SM.getFileID(Begin);
    const unsigned From = SM.getFileOffset(Begin), To = SM.getFileOffset(End);
    const StringRef Text = SM.getBufferData(File);
    if (SM.getFileID(End) != File || To <= From || To > Text.size())
      return;
    const StringRef Hidden = Text.slice(From, To);
    if (!torch::isUsedIn(Hidden.drop_until([](char C) { return C == '\n'; })))
      return;
    HiddenCode Result;
    Result.Path = SM.getFilename(Begin).str();
    Result.Line = SM.getSpellingLineNumber(Begin);
    Result.Lines = SM.getSpellingLineNumber(End) - Result.Line - 1;
    Result.Condition = directiveAt(Hidden);
    Result.Macro = macroOf(Result.Condition);
    Result.Names = namesInDirective(Result.Condition);
    if (StringRef(Result.Condition).starts_with("#el") && LastIf.isValid())
      Result.Condition =
          "#else of '" + directiveAt("#" + lineFrom(LastIf).str()) + "'";
    Found.push_back(std::move(Result));
  }

private:
  /// A header that was there before, behind its guard.
  bool isReadAgain(SourceLocation At) {
    const FileID File = SM.getFileID(At);
    const FileEntry *Entry = SM.getFileEntryForID(File);
    return Entry && FirstRead.try_emplace(Entry, File).first->second != File;
  }

  void FileChanged(SourceLocation At, FileChangeReason Why,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Why == EnterFile)
      (void)isReadAgain(SM.getExpansionLoc(At));
  }

  /// From the word behind the # on.
  StringRef lineFrom(SourceLocation At) const {
    StringRef Line = SM.getBufferData(SM.getFileID(At))
                         .drop_front(SM.getFileOffset(At))
                         .take_until([](char C) { return C == '\n'; });
    Line.consume_front("#");
    return Line;
  }

  const SourceManager &SM;
  std::vector<HiddenCode> &Found;
  DenseMap<const FileEntry *, FileID> FirstRead;
  SourceLocation LastIf;
};

} // namespace

void watchHiddenCode(Preprocessor &PP, std::vector<HiddenCode> &Found) {
  PP.addPPCallbacks(std::make_unique<Watcher>(PP.getSourceManager(), Found));
}

/// The macros that show Hidden when they are defined, each as after -D; none
/// where that is not known.
static std::vector<std::string>
definitionsFor(const HiddenCode &Hidden,
               const std::map<std::string, std::string> &Known) {
  std::vector<std::string> Result;
  for (const std::string &Name : Hidden.Names)
    if (const auto It = Known.find(Name); It != Known.end())
      Result.push_back(It->second);
  // More is asked than whether they are there: a build file has to say.
  if (Hidden.Macro.empty())
    return Result.size() == Hidden.Names.size() ? Result
                                                : std::vector<std::string>();
  return Result.empty() ? std::vector<std::string>{Hidden.Macro} : Result;
}

std::vector<std::string>
mostHiding(ArrayRef<HiddenCode> Hidden,
           const std::map<std::string, std::string> &Known) {
  std::map<std::vector<std::string>, unsigned> Lines;
  for (const HiddenCode &Each : Hidden)
    if (std::vector<std::string> Macros = definitionsFor(Each, Known);
        !Macros.empty())
      Lines[Macros] += Each.Lines;
  const auto Most = llvm::max_element(
      Lines, [](const auto &A, const auto &B) { return A.second < B.second; });
  return Most == Lines.end() ? std::vector<std::string>() : Most->first;
}

} // namespace torchtidy::tool

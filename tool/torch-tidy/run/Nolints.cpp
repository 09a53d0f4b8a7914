#include "run/Nolints.h"
#include "Registry.h"
#include "ast/TreeVisitor.h"
#include "clang-tidy/GlobList.h"
#include "torch/Types.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/Regex.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr llvm::StringLiteral Begin = "NOLINTBEGIN", End = "NOLINTEND";

bool touch(const FileLines &A, const FileLines &B) {
  return A.FilePath == B.FilePath && A.First <= B.Last && B.First <= A.Last;
}

/// Empty for an end, and for a begin that has none.
std::optional<FileLines> silencedBy(ArrayRef<NolintComment> All, size_t Index) {
  const NolintComment &Comment = All[Index];
  FileLines Result{Comment.FilePath, Comment.Line, Comment.Line};
  if (Comment.Word == End)
    return std::nullopt;
  if (Comment.Word == "NOLINTNEXTLINE")
    ++Result.First, ++Result.Last;
  if (Comment.Word != Begin)
    return Result;
  unsigned Open = 1;
  for (const NolintComment &Each : All.drop_front(Index + 1)) {
    if (Each.FilePath != Comment.FilePath || Each.List != Comment.List)
      continue;
    if (Each.Word == Begin)
      ++Open;
    else if (Each.Word == End && !--Open) {
      Result.Last = Each.Line;
      return Result;
    }
  }
  return std::nullopt;
}

/// Whether findings in a line of a file are shown.
class Filters {
public:
  explicit Filters(const tidy::ClangTidyContext &Context)
      : Context(Context),
        Shown(Context.getOptions().HeaderFilterRegex.value_or("")),
        Hidden(Context.getOptions().ExcludeHeaderFilterRegex.value_or("")),
        HidesAny(Context.getOptions().ExcludeHeaderFilterRegex &&
                 !Context.getOptions().ExcludeHeaderFilterRegex->empty()) {}

  bool show(const NolintComment &At) const {
    if (At.IsInHeader &&
        (!Shown.match(At.FilePath) || (HidesAny && Hidden.match(At.FilePath))))
      return false;
    const auto &Only = Context.getGlobalOptions().LineFilter;
    return Only.empty() || llvm::any_of(Only, [&](const auto &Filter) {
             return StringRef(At.FilePath).ends_with(Filter.Name) &&
                    (Filter.LineRanges.empty() ||
                     llvm::any_of(Filter.LineRanges, [&](const auto &Range) {
                       return Range.first <= At.Line && At.Line <= Range.second;
                     }));
           });
  }

private:
  const tidy::ClangTidyContext &Context;
  Regex Shown, Hidden;
  bool HidesAny;
};

/// Of the torch checks alone.
NolintName::State stateOf(StringRef Name, const std::optional<FileLines> &Where,
                          const Silenceable &Found, bool IsAnalysed,
                          const tidy::ClangTidyContext &Context) {
  const tidy::GlobList Glob(Name);
  bool IsKnown = false, IsEnabled = true;
  for (const CheckInfo &Check : registry())
    if (Glob.contains(Check.Name)) {
      IsKnown = true;
      IsEnabled &= Context.isCheckEnabled(Check.Name);
    }
  if (!IsKnown)
    return NolintName::Unknown;
  if (!Where)
    return NolintName::NotJudged;
  if (llvm::any_of(Found.Places, [&](const Silenceable::Place &Each) {
        return touch(*Where, {Each.FilePath, Each.Line, Each.Line}) &&
               Glob.contains(Each.Check);
      }))
    return NolintName::Used;
  return IsEnabled && IsAnalysed ? NolintName::Unused : NolintName::NotJudged;
}

class TemplateVisitor : public ast::TreeVisitor {
public:
  TemplateVisitor() : TreeVisitor(Instantiations) {}

  bool visitDecl(Decl *D) override {
    const auto *Function = dyn_cast<FunctionDecl>(D);
    if (!Function || !Function->doesThisDeclarationHaveABody())
      return true;
    if (Function->isDependentContext())
      Templates.push_back(Function);
    else if (const FunctionDecl *Of =
                 Function->getTemplateInstantiationPattern())
      Instantiated.insert(Of);
    return true;
  }
  bool visitStmt(Stmt *S) override {
    if (const auto *If = dyn_cast<IfStmt>(S); If && If->isConstexpr())
      Parts.push_back(If->getSourceRange());
    return true;
  }

  std::vector<SourceRange> Parts;
  std::vector<const FunctionDecl *> Templates;
  DenseSet<const FunctionDecl *> Instantiated;
};

/// The names in a list that mean torch checks, with where they begin.
std::vector<std::pair<StringRef, size_t>> namesInList(StringRef List) {
  std::vector<std::pair<StringRef, size_t>> Result;
  SmallVector<StringRef> Parts;
  List.split(Parts, ',');
  for (const StringRef Part : Parts) {
    const StringRef Name = Part.trim();
    // In a comment a name needs its "torch-".
    if (Name.starts_with("torch-") || findCheck(("torch-" + Name).str()))
      Result.emplace_back(Name, size_t(Name.data() - List.data()));
  }
  return Result;
}

} // namespace

NolintCollector::NolintCollector(Preprocessor &PP,
                                 std::vector<NolintComment> &Found)
    : PP(PP), Found(Found) {
  PP.addCommentHandler(this);
}

NolintCollector::~NolintCollector() { PP.removeCommentHandler(this); }

bool NolintCollector::HandleComment(Preprocessor &, SourceRange Comment) {
  const SourceManager &SM = PP.getSourceManager();
  const auto [File, From] = SM.getDecomposedLoc(Comment.getBegin());
  const unsigned To = SM.getFileOffset(Comment.getEnd());
  const StringRef Text = SM.getBufferData(File).slice(From, To);
  size_t At = Text.find("NOLINT");
  const OptionalFileEntryRef Entry =
      At == StringRef::npos ? std::nullopt : SM.getFileEntryRefForID(File);
  if (!Entry || SM.isInSystemHeader(Comment.getBegin()) ||
      torch::isLibraryPath(Entry->getName()))
    return false;
  for (; At != StringRef::npos; At = Text.find("NOLINT", At + 1)) {
    const StringRef Word = Text.drop_front(At).take_while(llvm::isAlpha);
    StringRef List = Text.drop_front(At + Word.size());
    const size_t Close = List.find_first_of("\n)");
    if (!is_contained({"NOLINT", "NOLINTNEXTLINE", Begin.data(), End.data()},
                      Word) ||
        !List.consume_front("(") || Close == StringRef::npos ||
        List[Close - 1] != ')')
      continue;
    List = List.take_front(Close - 1);
    NolintComment Result;
    Result.Word = Word.str();
    Result.FilePath = Entry->getName().str();
    Result.IsInHeader = File != SM.getMainFileID();
    Result.FileOffset = From + At;
    Result.Line = SM.getLineNumber(File, Result.FileOffset);
    Result.List = List.str();
    Result.ListOffset = From + unsigned(List.data() - Text.data());
    Found.push_back(std::move(Result));
  }
  return false;
}

std::vector<FileLines> partlySeen(ASTContext &Context, ArrayRef<Decl *> Scope) {
  TemplateVisitor Search;
  for (Decl *D : Scope)
    Search.traverseDecl(D);
  for (const FunctionDecl *Each : Search.Templates)
    if (!Search.Instantiated.contains(Each))
      Search.Parts.push_back(Each->getSourceRange());
  const SourceManager &SM = Context.getSourceManager();
  std::vector<FileLines> Result;
  for (const SourceRange &Each : Search.Parts)
    Result.push_back({SM.getFilename(SM.getFileLoc(Each.getBegin())).str(),
                      SM.getExpansionLineNumber(Each.getBegin()),
                      SM.getExpansionLineNumber(Each.getEnd())});
  return Result;
}

std::vector<NolintName> judge(ArrayRef<NolintComment> Comments,
                              const Silenceable &Found,
                              ArrayRef<FileLines> PartlySeen, bool HasErrors,
                              const tidy::ClangTidyContext &Context) {
  const Filters Shown(Context);
  std::vector<NolintName> Result;
  for (size_t I = 0; I < Comments.size(); ++I) {
    const NolintComment &Comment = Comments[I];
    if (Comment.Word == End || !Shown.show(Comment))
      continue;
    const std::optional<FileLines> Where = silencedBy(Comments, I);
    const bool IsAnalysed =
        !HasErrors && !Found.IsTooLarge && Where &&
        llvm::none_of(PartlySeen, [&](const FileLines &Each) {
          return touch(*Where, Each);
        });
    for (const auto &[Name, At] : namesInList(Comment.List)) {
      NolintName Each;
      Each.Text = Name.str();
      Each.Word = Comment.Word;
      Each.FilePath = Comment.FilePath;
      Each.Folder = Context.getCurrentBuildDirectory();
      Each.FileOffset = Comment.ListOffset + unsigned(At);
      Each.IsInHeader = Comment.IsInHeader;
      Each.Is = stateOf(Name, Where, Found, IsAnalysed, Context);
      Each.IsError = Context.treatAsError(UnusedNolint);
      Result.push_back(std::move(Each));
    }
  }
  return Result;
}

} // namespace torchtidy::tool

#include "TorchCheck.h"
#include "EnabledChecks.h"
#include "FindingListener.h"
#include "Registry.h"
#include "report/Report.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <tuple>

using namespace clang;

namespace torchtidy {

/// The findings of all enabled checks of one translation unit, so that one
/// cause at one line is told once, by the check with the highest priority. It
/// is decided before NOLINT is looked at: silencing the specific check does not
/// wake the general one.
class FindingPool {
public:
  void add(model::Finding Finding) {
    model::addUnlessKnown(Findings, std::move(Finding));
  }

  std::vector<model::Finding> take(StringRef Check, const SourceManager &SM) {
    std::vector<model::Finding> Result;
    for (const model::Finding &Finding : Findings)
      if (Finding.Check == Check && !isOutranked(Finding, SM)) {
        Result.push_back(Finding);
        keepApart(Result.back());
      }
    llvm::stable_sort(Result, [&](const auto &A, const auto &B) {
      return SM.isBeforeInTranslationUnit(A.Location, B.Location);
    });
    return Result;
  }

  /// Tells once for all checks what the model has left out.
  void tellShortfalls(const model::Program &Model) {
    FindingListener *Listener = FindingListener::current();
    if (Listener && !ShortfallsTold)
      for (const auto &Each : Model.shortfalls())
        Listener->leftOut(Each);
    ShortfallsTold = true;
  }

private:
  /// clang-tidy takes changes that touch for changes that overlap, and makes
  /// only one of them: of two lines that go, an empty one is left.
  void keepApart(model::Finding &Finding) const {
    for (FixItHint &Fix : Finding.Fixes) {
      CharSourceRange &Removed = Fix.RemoveRange;
      const auto Touches = [&](const FixItHint &Before) {
        const CharSourceRange &Range = Before.RemoveRange;
        return Range.isValid() && Range.getEnd() == Removed.getBegin() &&
               Range.getBegin() != Removed.getBegin();
      };
      if (Removed.isValid() && Removed.isCharRange() &&
          Removed.getBegin() != Removed.getEnd() &&
          llvm::any_of(Findings, [&](const model::Finding &Other) {
            return llvm::any_of(Other.Fixes, Touches);
          }))
        Removed.setBegin(Removed.getBegin().getLocWithOffset(1));
    }
  }

  bool isOutranked(const model::Finding &Finding,
                   const SourceManager &SM) const {
    if (Finding.Cause.empty())
      return false;
    unsigned Priority = priority(Finding.Check);
    return llvm::any_of(Findings, [&](const model::Finding &Other) {
      return Other.Check != Finding.Check && Other.Cause == Finding.Cause &&
             priority(Other.Check) > Priority &&
             line(Other, SM) == line(Finding, SM);
    });
  }

  static unsigned priority(StringRef Check) {
    const CheckInfo *Info = findCheck(Check);
    return Info ? Info->Priority : 0;
  }

  static std::pair<FileID, unsigned> line(const model::Finding &Finding,
                                          const SourceManager &SM) {
    SourceLocation Location = SM.getExpansionLoc(Finding.Location);
    return {SM.getFileID(Location), SM.getExpansionLineNumber(Location)};
  }

  std::vector<model::Finding> Findings;
  bool ShortfallsTold = false;
};

/// What the checks of one AST share. clangd builds several ASTs at once, each
/// on one thread, hence thread-local; the weak pointers let it die with the
/// AST.
template <class T, class Make>
static std::shared_ptr<T> sharedForAST(const ASTContext &Context, Make Create) {
  struct Entry {
    const ASTContext *Context = nullptr;
    std::weak_ptr<T> Shared;
  };
  static thread_local Entry Last;
  std::shared_ptr<T> Result = Last.Shared.lock();
  if (!Result || Last.Context != &Context) {
    Result = Create();
    Last = {&Context, Result};
  }
  return Result;
}

TorchCheck::TorchCheck(StringRef Name, tidy::ClangTidyContext *Context)
    : ClangTidyCheck(Name, Context), Tidy(Context) {}

TorchCheck::~TorchCheck() = default;

void TorchCheck::registerMatchers(ast_matchers::MatchFinder *Finder) {
  // The only matcher of all our checks. A functionDecl matcher would meet
  // 209,145 nodes of LibTorch against a few dozen of the user's.
  Finder->addMatcher(ast_matchers::translationUnitDecl().bind("unit"), this);
}

void TorchCheck::check(const ast_matchers::MatchFinder::MatchResult &Result) {
  ASTContext &Context = *Result.Context;
  Model = sharedForAST<model::Program>(Context, [&] {
    leaveOutPrecompiled(Context);
    return std::make_shared<model::Program>(Context);
  });
  Pool = sharedForAST<FindingPool>(
      Context, [] { return std::make_shared<FindingPool>(); });
  const CheckInfo *Info = findCheck(getID());
  for (model::Finding &Finding : analyze(*Model)) {
    Finding.Check = Info ? Info->Name : StringRef();
    if (!Finding.Kind)
      Finding.Kind = onlyKind(Finding.Check);
    assert((!Info || (Finding.Kind &&
                      StringRef(infoOf(*Finding.Kind).Check) == Info->Name)) &&
           "a kind of another check, or none: see FindingKinds.def");
    Pool->add(std::move(Finding));
  }
}

void TorchCheck::onEndOfTranslationUnit() {
  if (Model) {
    Pool->tellShortfalls(*Model);
    for (const model::Finding &Finding :
         Pool->take(getID(), Model->sourceManager())) {
      if (FindingListener *Listener = FindingListener::current())
        Listener->found(Finding, Model->sourceManager());
      emit(Finding, Model->context());
    }
  }
  Model.reset();
  Pool.reset();
}

/// After the node of the unit MatchFinder visits all others, and so reads back
/// everything that a precompiled header declares, which takes ten times as long
/// as the checks. Other checks need that; ours do not.
void TorchCheck::leaveOutPrecompiled(ASTContext &Context) const {
  const std::vector<Decl *> Scope = Context.getTraversalScope();
  if (!Context.getExternalSource() || Scope.size() != 1 ||
      !isa<TranslationUnitDecl>(Scope.front()) || !areTorchChecksAlone(*Tidy))
    return;
  std::vector<Decl *> Own;
  for (Decl *D : Context.getTranslationUnitDecl()->noload_decls())
    if (!D->isFromASTFile())
      Own.push_back(D);
  Context.setTraversalScope(Own);
}

bool TorchCheck::boolOption(StringRef Option, bool Default) const {
  std::optional<StringRef> Text = Options.get(Option);
  if (!Text)
    return Default;
  if (*Text == "true" || *Text == "1")
    return true;
  if (*Text == "false" || *Text == "0")
    return false;
  configurationDiag("invalid configuration value '%0' for option '%1.%2'; "
                    "expected true or false")
      << *Text << getID() << Option;
  return Default;
}

void TorchCheck::storeBoolOption(tidy::ClangTidyOptions::OptionMap &Map,
                                 StringRef Option, bool Value) const {
  Options.store(Map, Option, StringRef(Value ? "true" : "false"));
}

/// In a file: what a macro is given, else what stands for the macro. Clang-tidy
/// knows no other ranges, and tells of a macro's as if it were a file.
static CharSourceRange fileRange(SourceRange Range, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const LangOptions &Language = Context.getLangOpts();
  const auto Tokens = CharSourceRange::getTokenRange(Range);
  const CharSourceRange Spelled =
      Lexer::makeFileCharRange(Tokens, SM, Language);
  return Spelled.isValid()
             ? Spelled
             : Lexer::getAsCharRange(SM.getExpansionRange(Range), SM, Language);
}

void TorchCheck::emit(const model::Finding &Finding,
                      const ASTContext &Context) {
  {
    // Through "%0": a message may quote code with a percent sign.
    auto Diagnostic = diag(Finding.Location, "%0") << Finding.Message;
    if (Finding.Range.isValid())
      Diagnostic << fileRange(Finding.Range, Context);
    for (const FixItHint &Fix : Finding.Fixes)
      Diagnostic << Fix;
  }
  for (const model::Note &Note : Finding.Notes)
    diag(Note.Location, "%0", DiagnosticIDs::Note) << Note.Message;
}

} // namespace torchtidy

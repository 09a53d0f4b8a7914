#include "run/FunctionRanges.h"
#include "ast/TreeVisitor.h"
#include "flow/ClassParts.h"
#include "flow/Unreached.h"
#include "torch/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::tool {
namespace {

class Visitor : public ast::TreeVisitor {
public:
  explicit Visitor(std::vector<const FunctionDecl *> &Found) : Found(Found) {}

  bool traverseDecl(Decl *D) override {
    const auto *Function = llvm::dyn_cast_or_null<FunctionDecl>(D);
    if (!Function || Function->isImplicit())
      return TreeVisitor::traverseDecl(D);
    if (Function->doesThisDeclarationHaveABody() || Function->isInvalidDecl())
      Found.push_back(Function);
    // What is inside belongs to it.
    return true;
  }

private:
  std::vector<const FunctionDecl *> &Found;
};

/// A declaration with errors that was written with a body, whether or not Clang
/// has kept it: a brace, or the initializers of a constructor, follow.
bool isWrittenWithBody(const FunctionDecl *Function) {
  if (Function->doesThisDeclarationHaveABody())
    return true;
  const ASTContext &Context = Function->getASTContext();
  const std::optional<Token> Next = Lexer::findNextToken(
      Function->getEndLoc(), Context.getSourceManager(), Context.getLangOpts());
  return Next && Next->isOneOf(tok::l_brace, tok::colon);
}

bool holdsErrors(const Stmt *Body) {
  struct Search : ast::TreeVisitor {
    bool Found = false;
    bool visitStmt(Stmt *S) override {
      const auto *E = dyn_cast<Expr>(S);
      Found |= E && E->containsErrors();
      return !Found;
    }
    bool visitDecl(Decl *D) override {
      Found |= isa<VarDecl>(D) && D->isInvalidDecl();
      return !Found;
    }
  };
  Search Errors;
  Errors.traverseStmt(const_cast<Stmt *>(Body));
  return Errors.Found;
}

/// By one name for each file.
std::optional<tooling::FileByteRange> bytesOf(SourceRange Code,
                                              const SourceManager &SM) {
  const SourceLocation Begin = SM.getFileLoc(Code.getBegin()),
                       End = SM.getFileLoc(Code.getEnd());
  if (Begin.isInvalid() || SM.getFileID(Begin) != SM.getFileID(End))
    return std::nullopt;
  const OptionalFileEntryRef File =
      SM.getFileEntryRefForID(SM.getFileID(Begin));
  if (!File || SM.getFileOffset(End) < SM.getFileOffset(Begin))
    return std::nullopt;
  tooling::FileByteRange Result;
  Result.FilePath = File->getFileEntry().tryGetRealPathName().str();
  Result.FileOffset = SM.getFileOffset(Begin);
  Result.Length = SM.getFileOffset(End) - Result.FileOffset;
  return Result;
}

/// Nothing where a part stands in no file.
std::optional<WrittenName> written(StringRef Name,
                                   llvm::ArrayRef<SourceRange> Parts,
                                   const SourceManager &SM) {
  WrittenName Result;
  Result.Name = Name.str();
  for (const SourceRange &Each : Parts) {
    std::optional<tooling::FileByteRange> Place = bytesOf(Each, SM);
    if (!Place)
      return std::nullopt;
    Result.Declarations.push_back(std::move(*Place));
  }
  return Result;
}

/// Nothing where it may run in ways that are not known.
std::optional<WrittenName> writtenAs(const FunctionDecl *F,
                                     const SourceManager &SM) {
  if (flow::mayRunUnnamed(F, {torch::isCalledByTemplates, torch::layerName}))
    return std::nullopt;
  llvm::SmallVector<SourceRange, 4> Parts;
  for (const FunctionDecl *Each : F->redecls())
    Parts.push_back(Each->getSourceRange());
  std::optional<WrittenName> Result = written(F->getName(), Parts, SM);
  if (Result)
    Result->IsMentioned = flow::isMentioned(F);
  return Result;
}

std::optional<WrittenName> writtenAs(const CXXRecordDecl *Class,
                                     const SourceManager &SM) {
  if (flow::mayBeMadeUnnamed(Class))
    return std::nullopt;
  std::optional<WrittenName> Result =
      written(Class->getName(), flow::partsOf(Class), SM);
  if (Result) {
    Result->Stem = torch::layerName(Class).str();
    Result->IsClass = true;
    Result->IsMentioned = flow::isConstructorMentioned(Class);
  }
  return Result;
}

} // namespace

void FunctionRanges::collect(ASTContext &Context, llvm::ArrayRef<Decl *> Scope,
                             bool AreNamesAsked) {
  const SourceManager &SM = Context.getSourceManager();
  const bool HasErrors = Context.getDiagnostics().hasErrorOccurred();
  std::vector<const FunctionDecl *> Functions;
  llvm::DenseSet<const CXXRecordDecl *> Classes;
  Visitor Search(Functions);
  for (Decl *D : Scope)
    Search.traverseDecl(D);
  for (const FunctionDecl *Function : Functions) {
    if (!isWrittenWithBody(Function))
      continue;
    const SourceRange All = Function->getSourceRange();
    const SourceLocation Begin = SM.getFileLoc(All.getBegin()),
                         End = SM.getFileLoc(All.getEnd());
    if (Begin.isInvalid() || SM.getFileID(Begin) != SM.getFileID(End))
      continue;
    Ranges.push_back(
        {SM.getFilename(Begin).str(), SM.getFileOffset(Begin),
         SM.getFileOffset(End),
         Function->isInvalidDecl() || (HasErrors && Function->hasBody() &&
                                       holdsErrors(Function->getBody()))});
    if (!AreNamesAsked)
      continue;
    if (std::optional<WrittenName> Named = writtenAs(Function, SM))
      Written.push_back(std::move(*Named));
    const auto *Method = dyn_cast<CXXMethodDecl>(Function);
    if (!Method || !Classes.insert(Method->getParent()).second)
      continue;
    if (std::optional<WrittenName> Named = writtenAs(Method->getParent(), SM))
      Written.push_back(std::move(*Named));
  }
}

unsigned FunctionRanges::countWithErrors(
    llvm::ArrayRef<tidy::ClangTidyError> Findings) const {
  auto IsIn = [](const tidy::ClangTidyError &Finding, const Range &Each) {
    const unsigned At = Finding.Message.FileOffset;
    return Finding.DiagLevel == tidy::ClangTidyError::Error &&
           Finding.DiagnosticName == "clang-diagnostic-error" &&
           Finding.Message.FilePath == Each.Path && Each.Begin <= At &&
           At <= Each.End;
  };
  return llvm::count_if(Ranges, [&](const Range &Each) {
    return Each.IsInvalid || llvm::any_of(Findings, [&](const auto &Finding) {
             return IsIn(Finding, Each);
           });
  });
}

} // namespace torchtidy::tool

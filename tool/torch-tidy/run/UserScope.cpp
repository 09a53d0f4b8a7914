#include "run/UserScope.h"
#include "EnabledChecks.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "torch/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "llvm/ADT/DenseMap.h"

using namespace clang;

namespace torchtidy::tool {
namespace {

class UserCode {
public:
  explicit UserCode(const SourceManager &SM) : SM(SM) {}

  bool contains(const Decl *D) {
    SourceLocation Location = SM.getExpansionLoc(D->getLocation());
    if (Location.isInvalid() || D->isFromASTFile())
      return false;
    FileID File = SM.getFileID(Location);
    if (File == SM.getMainFileID())
      return true;
    auto [It, IsNew] = Files.try_emplace(File, false);
    if (IsNew) {
      OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File);
      // LibTorch given by -I has no system headers: go by the path too.
      It->second = Entry && !SM.isInSystemHeader(Location) &&
                   !torch::isLibraryPath(Entry->getName());
    }
    return It->second;
  }

private:
  const SourceManager &SM;
  llvm::DenseMap<FileID, bool> Files;
};

class UserScopeConsumer : public ASTConsumer {
public:
  using Callback = std::function<void(ASTContext &, llvm::ArrayRef<Decl *>)>;
  UserScopeConsumer(bool Limits, Callback Seen)
      : Limits(Limits), Seen(std::move(Seen)) {}

  void Initialize(ASTContext &Context) override {
    if (!Limits)
      return;
    // After a fatal error Clang instantiates no template any more, and most
    // LibTorch code is templates. The error limit makes the last error fatal.
    // The driver shows only the first errors of a file (see Report.h).
    Context.getDiagnostics().setFatalsAsError(true);
    Context.getDiagnostics().setErrorLimit(0);
  }

  void HandleTranslationUnit(ASTContext &Context) override {
    UserCode User(Context.getSourceManager());
    std::vector<Decl *> Scope;
    // Not decls(): that reads all of a precompiled header back.
    for (Decl *D : Context.getTranslationUnitDecl()->noload_decls())
      if (User.contains(D))
        Scope.push_back(D);
    if (Limits)
      Context.setTraversalScope(Scope);
    if (Seen)
      Seen(Context, Scope);
  }

private:
  bool Limits;
  Callback Seen;
};

} // namespace

bool TorchOnly::operator()(const tidy::ClangTidyContext &Context) {
  auto [It, IsNew] =
      Answers.try_emplace(Context.getOptions().Checks.value_or(""), false);
  if (IsNew)
    It->second = areTorchChecksAlone(Context);
  return It->second;
}

std::unique_ptr<ASTConsumer> withUserCode(std::unique_ptr<ASTConsumer> Next,
                                          bool Limits,
                                          UserScopeConsumer::Callback Seen) {
  std::vector<std::unique_ptr<ASTConsumer>> Consumers;
  Consumers.push_back(
      std::make_unique<UserScopeConsumer>(Limits, std::move(Seen)));
  Consumers.push_back(std::move(Next));
  return std::make_unique<MultiplexConsumer>(std::move(Consumers));
}

} // namespace torchtidy::tool

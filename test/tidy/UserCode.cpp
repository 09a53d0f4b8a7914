// A plugin of Clang that lets clang-tidy's checks look at the project's own
// code alone. The headers of LLVM hold fifty times as many declarations as a
// source of this project does, and nearly all the time goes into them, where
// nobody is shown what is found.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

using namespace clang;

namespace {

class UserCode : public ASTConsumer {
public:
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group)
      if (!D->isFromASTFile() &&
          !D->getASTContext().getSourceManager().isInSystemHeader(
              D->getLocation()))
        Own.push_back(D);
    return true;
  }

  void HandleTranslationUnit(ASTContext &Context) override {
    if (!Own.empty())
      Context.setTraversalScope(Own);
  }

private:
  std::vector<Decl *> Own;
};

class UserCodeAction : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 StringRef) override {
    return std::make_unique<UserCode>();
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }
  // Before the consumer that runs the checks.
  ActionType getActionType() override { return AddBeforeMainAction; }
};

FrontendPluginRegistry::Add<UserCodeAction>
    Registration("user-code", "Limits what is traversed to the user's code.");

} // namespace

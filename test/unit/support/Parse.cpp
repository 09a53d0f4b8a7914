#include "support/Parse.h"
#include "support/TestConfig.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace clang;

namespace torchtidy::test {
namespace {

std::unique_ptr<ASTUnit> parseWith(llvm::StringRef Code,
                                   std::vector<std::string> Arguments,
                                   const ParseOptions &Options) {
  Arguments.push_back(std::string("-resource-dir=") + TORCHTIDY_RESOURCE_DIR);
  Arguments.insert(Arguments.end(), Options.Arguments.begin(),
                   Options.Arguments.end());

  std::string Messages;
  llvm::raw_string_ostream Stream(Messages);
  auto DiagOptions = llvm::makeIntrusiveRefCnt<DiagnosticOptions>();
  TextDiagnosticPrinter Printer(Stream, DiagOptions.get());
  std::unique_ptr<ASTUnit> Unit = tooling::buildASTFromCodeWithArgs(
      Code, Arguments, "input.cpp", "torch-tidy-unit-test",
      std::make_shared<PCHContainerOperations>(),
      tooling::getClangStripDependencyFileAdjuster(),
      tooling::FileContentMappings(), &Printer);
  if (Unit) // The AST outlives the printer.
    Unit->getDiagnostics().setClient(new IgnoringDiagConsumer,
                                     /*ShouldOwnClient=*/true);
  bool HasErrors = !Unit || Unit->getDiagnostics().hasErrorOccurred();
  if (HasErrors && !(Unit && Options.AllowErrors))
    ADD_FAILURE() << "the source of this test does not parse:\n" << Messages;
  return Unit;
}

class FunctionFinder : public RecursiveASTVisitor<FunctionFinder> {
public:
  FunctionFinder(llvm::StringRef Name) : Name(Name) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool VisitFunctionDecl(FunctionDecl *Function) { return consider(Function); }

  // The class of a lambda is implicit and not visited.
  bool VisitLambdaExpr(LambdaExpr *Lambda) {
    return consider(Lambda->getCallOperator());
  }

  const FunctionDecl *Result = nullptr;

private:
  /// False ends the search.
  bool consider(FunctionDecl *Function) {
    if (!Function->doesThisDeclarationHaveABody())
      return true;
    std::string Found = Name.contains("::")
                            ? Function->getQualifiedNameAsString()
                            : Function->getNameAsString();
    if (Found != Name)
      return true;
    // A pattern stands in only where nothing instantiates it.
    bool IsPattern = Function->isDependentContext();
    if (!Result || (Result->isDependentContext() && !IsPattern))
      Result = Function;
    return Result->isDependentContext();
  }

  llvm::StringRef Name;
};

} // namespace

std::unique_ptr<ASTUnit> parse(llvm::StringRef Code,
                               const ParseOptions &Options) {
  return parseWith(Code, {"-std=c++17"}, Options);
}

std::unique_ptr<ASTUnit> parseTorch(llvm::StringRef Code,
                                    const ParseOptions &Options) {
  if (!llvm::sys::fs::exists(TORCHTIDY_TEST_PCH)) {
    ADD_FAILURE() << TORCHTIDY_TEST_PCH
                  << " is missing: build the target test-pch";
    return nullptr;
  }
  std::vector<std::string> Arguments = {"-std=c++17"};
  for (const char *Flag :
       std::initializer_list<const char *> TORCHTIDY_TORCH_FLAGS)
    Arguments.push_back(Flag);
  Arguments.push_back("-include-pch");
  Arguments.push_back(TORCHTIDY_TEST_PCH);
  return parseWith(Code, std::move(Arguments), Options);
}

const FunctionDecl *findFunction(ASTUnit &Unit, llvm::StringRef Name) {
  FunctionFinder Finder(Name);
  for (auto It = Unit.top_level_begin(); It != Unit.top_level_end(); ++It)
    if (!Finder.TraverseDecl(*It))
      break;
  if (!Finder.Result)
    ADD_FAILURE() << "the source of this test defines no function "
                  << Name.str();
  return Finder.Result;
}

} // namespace torchtidy::test

// torch-mutate: lists the mutants of a program, and writes them.
#include "Operators.h"

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/CommonOptionsParser.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace clang;
namespace cl = llvm::cl;
namespace path = llvm::sys::path;

namespace {

using namespace torchtidy::mutation;

cl::OptionCategory Category("torch-mutate");
cl::opt<std::string> RootFolder(
    "root", cl::cat(Category),
    cl::desc(
        "Folder of the program's own files; those outside stay as they are. "
        "Default: the folder of the source"));
cl::opt<std::string> OutFolder(
    "out", cl::cat(Category),
    cl::desc(
        "Write each mutant below this folder: OUT/0001/<file>, with the files "
        "that differ only"));

/// Prints the mutants as JSON, one a line, and writes them.
class Rewriter : public ASTConsumer {
public:
  explicit Rewriter(std::string Source) : Source(std::move(Source)) {}

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    TopLevel.insert(TopLevel.end(), Group.begin(), Group.end());
    return true;
  }

  void HandleTranslationUnit(ASTContext &Context) override {
    // An unparsed part would be taken for one without points.
    if (Context.getDiagnostics().hasUncompilableErrorOccurred())
      return;
    Program Whole(Context, root(), TopLevel);
    std::vector<Mutation> Found;
    removeZeroGrad(Whole, Found);
    removeDetach(Whole, Found);
    removeItem(Whole, Found);
    removeGuards(Whole, Found);
    moveIntoLoops(Whole, Found);
    moveAfterFactories(Whole, Found);
    replaceAccessors(Whole, Found);
    concatenateInLoops(Whole, Found);
    changeTransfers(Whole, Found);
    removeTrain(Whole, Found);
    outliveScopes(Whole, Found);
    moveSteps(Whole, Found);
    removeGeneratorDetach(Whole, Found);
    captureHolders(Whole, Found);
    llvm::stable_sort(Found, [](const Mutation &A, const Mutation &B) {
      return std::tie(A.Point.File, A.Point.Offset) <
             std::tie(B.Point.File, B.Point.Offset);
    });
    std::set<std::string> Keys;
    for (const Mutation &Each : Found)
      if (Keys.insert(Each.key()).second)
        write(Each, Whole.files());
  }

private:
  std::string root() const {
    llvm::SmallString<256> Folder(RootFolder.empty()
                                      ? path::parent_path(Source)
                                      : llvm::StringRef(RootFolder));
    llvm::sys::fs::make_absolute(Folder);
    llvm::SmallString<256> Real;
    if (llvm::sys::fs::real_path(Folder, Real))
      return Folder.str().str();
    return Real.str().str();
  }

  void write(const Mutation &Each, const Files &Sources) {
    llvm::Expected<Mutant> Made = apply(Each, Sources);
    if (!Made) {
      llvm::errs() << "torch-mutate: " << Each.Operator << ": "
                   << llvm::toString(Made.takeError()) << '\n';
      return;
    }
    std::string Number = llvm::formatv("{0:4}", ++Count).str();
    std::replace(Number.begin(), Number.end(), ' ', '0');
    Made->Description["number"] = Number;
    llvm::json::Array Names;
    for (const auto &[Name, Text] : Made->Changed) {
      Names.push_back(Name);
      if (OutFolder.empty())
        continue;
      llvm::SmallString<256> Path(OutFolder);
      path::append(Path, Number, Name);
      llvm::sys::fs::create_directories(path::parent_path(Path));
      std::error_code Error;
      llvm::raw_fd_ostream Stream(Path, Error);
      if (Error) {
        llvm::errs() << "torch-mutate: cannot write " << Path << ": "
                     << Error.message() << '\n';
        std::exit(1);
      }
      Stream << Text;
    }
    Made->Description["changed"] = std::move(Names);
    llvm::outs() << llvm::json::Value(std::move(Made->Description)) << '\n';
  }

  std::string Source;
  std::vector<Decl *> TopLevel;
  unsigned Count = 0;
};

class Action : public ASTFrontendAction {
public:
  std::unique_ptr<ASTConsumer>
  CreateASTConsumer(CompilerInstance &, llvm::StringRef File) override {
    return std::make_unique<Rewriter>(File.str());
  }
};

} // namespace

int main(int argc, const char **argv) {
  // One source file: the numbers of its mutants begin with 0001.
  auto Options =
      tooling::CommonOptionsParser::create(argc, argv, Category, cl::Required);
  if (!Options) {
    llvm::errs() << llvm::toString(Options.takeError());
    return 1;
  }
  tooling::ClangTool Tool(Options->getCompilations(),
                          Options->getSourcePathList());
  return Tool.run(tooling::newFrontendActionFactory<Action>().get());
}

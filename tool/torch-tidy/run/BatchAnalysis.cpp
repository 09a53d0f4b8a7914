// FileAnalysis: what the files of a batch share.
#include "headers/Includes.h"
#include "inputs/Tree.h"
#include "run/AnalysisAction.h"
#include "run/Batches.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Serialization/ASTReader.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

std::optional<std::string>
FileAnalysis::commandsInput(const std::string &Source) const {
  const std::vector<tooling::CompileCommand> Commands =
      Database.getCompileCommands(absoluteIn(Start, Source));
  return Commands.size() == 1 ? inputOf(Commands.front()) : std::nullopt;
}

std::optional<FileAnalysis::Attempt>
FileAnalysis::attemptShared(const std::string &Source) {
  Shared &Common = *Open;
  const std::optional<std::string> Input = commandsInput(Source);
  if (!Input || Common.keyOf(*Input, *FS) != Common.Key)
    return std::nullopt;
  if (Settings.Gathered.contains(Source) &&
      !mayUseLibTorch(*Input, *Common.Command, *FS))
    return std::nullopt;
  CompilerInstance &Compiler = Common.Parser->getCompilerInstance();
  const OptionalFileEntryRef File =
      Compiler.getFileManager().getOptionalFileRef(*Input, /*OpenFile=*/true);
  if (!File)
    return std::nullopt;
  Common.Context.setCurrentFile(*Input);
  Common.Parser->parse(*File);
  conclude(Common.Now, Common.Consumer, Common.Evidences, Common.Context);
  Common.Now.WasOpen = true;
  return std::move(Common.Now);
}

void FileAnalysis::share(ArrayRef<std::string> Sources, JobControl &Control,
                         function_ref<void(std::vector<Class>)> Serve) {
  ReadLog Log(Settings.Cache.Folder);
  SharedLog = &Log;
  const auto Served = [&] {
    std::map<std::string, Class> Others;
    std::vector<Class> All(1);
    {
      // Each source looks for itself.
      const ReadLog::Pause Unnoted;
      for (size_t I = 0; I < Sources.size(); ++I) {
        const std::optional<std::string> Input = commandsInput(Sources[I]);
        const std::string Key = Input ? Open->keyOf(*Input, *FS) : "";
        (Key == Open->Key ? All.front() : Others[Key]).push_back(I);
      }
    }
    for (auto &[Key, Each] : Others) {
      if (!Key.empty()) {
        All.push_back(std::move(Each));
        continue;
      }
      for (const size_t Alone : Each)
        All.push_back({Alone});
    }
    // The other sources do not depend on it.
    Log.forget(absoluteIn(Start, Sources.front()));
    Serve(std::move(All));
  };
  const function_ref<void()> Call = Served;
  OnShared = &Call;
  attempt(Sources.front(), &Cache, Control, {});
  OnShared = nullptr;
  SharedLog = nullptr;
}

std::vector<uint64_t> FileAnalysis::readBefore() const {
  return Cache.declarationsRead(Open->Now.WithHeader.back().Header);
}

void FileAnalysis::tellRead(std::vector<uint64_t> Declarations) const {
  Cache.setDeclarationsRead(Open->Now.WithHeader.back().Header,
                            std::move(Declarations));
}

void FileAnalysis::readAhead(ArrayRef<uint64_t> Declarations) {
  const IntrusiveRefCntPtr<ASTReader> Reader =
      Open->Parser->getCompilerInstance().getASTReader();
  for (const uint64_t Id : Declarations)
    Reader->GetDecl(GlobalDeclID(Id));
  // Some of them Clang shows its consumers when the parse begins. Ours wait for
  // its end, and looking at them takes each process a tenth of its time.
  ASTConsumer Nobody;
  Reader->StartTranslationUnit(&Nobody);
  Reader->StartTranslationUnit(nullptr);
}

} // namespace torchtidy::tool

#include "Doubts.h"
#include "headers/IncludeGraph.h"
#include "headers/Preceding.h"
#include "headers/Uninstantiated.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

class Doubts::Watcher : public PPCallbacks {
public:
  Watcher(Doubts &Owner, Preprocessor &PP)
      : Owner(Owner), PP(PP), SM(PP.getSourceManager()) {
    for (const std::string &Entry : Owner.Entries)
      if (OptionalFileEntryRef File =
              PP.getFileManager().getOptionalFileRef(Entry))
        Missing.insert(&File->getFileEntry());
      else
        Owner.doubt("'" + Entry + "' is not there");
  }

  void InclusionDirective(SourceLocation HashLoc, const Token &, StringRef,
                          bool, CharSourceRange, OptionalFileEntryRef File,
                          StringRef, StringRef, const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    settlePragma();
    if (Missing.empty() || !File)
      return;
    Included.push_back(File->getName().str());
    if (!Missing.erase(&File->getFileEntry()) || !Missing.empty())
      return;
    Owner.Entered = HashLoc;
    for (const auto &[Name, Before] : Changed)
      if (const MacroInfo *Now = PP.getMacroInfo(Name);
          !isSame(Before, Now) &&
          (Before || occurs(Name->getName(), Now->isFunctionLike())))
        Owner.doubt("the headers before LibTorch's change '" + Name->getName() +
                    "', a name of LibTorch's headers");
  }

  // Before LibTorch is included: what its headers could have seen.
  void MacroDefined(const Token &Name, const MacroDirective *New) override {
    const MacroDirective *Old = New->getPrevious();
    const MacroDirective::DefInfo Before =
        Old ? const_cast<MacroDirective *>(Old)->getDefinition()
            : MacroDirective::DefInfo();
    changes(Name, "defines",
            Before && !Before.isUndefined() ? Before.getMacroInfo() : nullptr,
            New->getMacroInfo()->isFunctionLike());
  }
  void MacroUndefined(const Token &Name, const MacroDefinition &Before,
                      const MacroDirective *) override {
    // What is not defined does not change.
    if (Before)
      changes(Name, "undefines", Before.getMacroInfo());
  }
  void PragmaDirective(SourceLocation Loc, PragmaIntroducerKind How) override {
    settlePragma();
    if (Missing.empty() || !isUsers(Loc))
      return;
    // The words of _Pragma("...") are in no file; what it is comes next.
    if (How != PIK_HashPragma) {
      IsPragmaOpen = true;
      return;
    }
    const StringRef Line =
        StringRef(SM.getCharacterData(Loc)).take_until([](char C) {
          return C == '\n';
        });
    for (StringRef Harmless : {"once", "diagnostic", "region", "mark",
                               "message", "warning", "comment"})
      if (Line.contains(Harmless))
        return;
    Owner.doubt("a pragma stands before LibTorch's headers");
  }

  // What changes warnings changes nothing else.
  void PragmaDiagnosticPush(SourceLocation, StringRef) override {
    IsPragmaOpen = false;
  }
  void PragmaDiagnosticPop(SourceLocation, StringRef) override {
    IsPragmaOpen = false;
  }
  void PragmaDiagnostic(SourceLocation, StringRef, diag::Severity,
                        StringRef) override {
    IsPragmaOpen = false;
  }

  // Before LibTorch is included: what would not have been there to be asked.
  void Ifdef(SourceLocation Loc, const Token &Name,
             const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Ifndef(SourceLocation Loc, const Token &Name,
              const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Elifdef(SourceLocation Loc, const Token &Name,
               const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Elifndef(SourceLocation Loc, const Token &Name,
                const MacroDefinition &Macro) override {
    asks(Loc, Name, Macro);
  }
  void Defined(const Token &Name, const MacroDefinition &Macro,
               SourceRange Range) override {
    asks(Range.getBegin(), Name, Macro);
  }
  void MacroExpands(const Token &Name, const MacroDefinition &Macro,
                    SourceRange Range, const MacroArgs *) override {
    asks(Range.getBegin(), Name, Macro);
  }

  void EndOfMainFile() override {
    settlePragma();
    if (!Missing.empty())
      Owner.doubt("LibTorch's headers are not included");
  }

private:
  bool isUsers(SourceLocation Loc) const {
    Loc = SM.getExpansionLoc(Loc);
    return Loc.isValid() && !SM.isWrittenInBuiltinFile(Loc) &&
           !SM.isWrittenInCommandLineFile(Loc) && !SM.isInSystemHeader(Loc);
  }

  void changes(const Token &Name, StringRef How, const MacroInfo *Before,
               bool IsFunctionLike = false) {
    const SourceLocation Loc = Name.getLocation();
    if (Missing.empty() || SM.isWrittenInBuiltinFile(Loc) ||
        SM.isWrittenInCommandLineFile(Loc))
      return;
    const IdentifierInfo *Identifier = Name.getIdentifierInfo();
    if (!Identifier || !Identifier->isFromAST())
      return;
    if (isUsers(Loc)) {
      if (Before || occurs(Identifier->getName(), IsFunctionLike))
        Owner.doubt(How + " '" + Identifier->getName() +
                    "', a name of LibTorch's headers, before them");
      return;
    }
    // Headers of the system that have no guard, or one that leaves something
    // out, do again what they did in the precompiled header: only what has
    // become of it in the end counts.
    Changed.try_emplace(Identifier, Before);
  }

  /// Whether a name that is no macro in the precompiled header stands in it all
  /// the same. It knows more names than that: those of Clang's builtins.
  /// IsCalled: a macro with parameters means nothing to a name without a
  /// parenthesis behind it, as glibc's sigmask(..) to a parameter of that name.
  bool occurs(StringRef Name, bool IsCalled) const {
    // Headers of C still ask for them; in C++ they play no role ([cstdint.syn],
    // [cinttypes.syn]).
    if (is_contained({"__STDC_CONSTANT_MACROS", "__STDC_LIMIT_MACROS",
                      "__STDC_FORMAT_MACROS"},
                     Name))
      return false;
    return llvm::any_of(Owner.Inputs, [&](const std::string &Path) {
      ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
          PP.getFileManager().getVirtualFileSystem().getBufferForFile(Path);
      return !Text || isToken(Name, IsCalled, **Text);
    });
  }

  /// In a comment or a string it means nothing.
  static bool isToken(StringRef Name, bool IsCalled, const MemoryBuffer &Text) {
    if (!Text.getBuffer().contains(Name))
      return false;
    LangOptions Language;
    Language.CPlusPlus = Language.CPlusPlus11 = Language.LineComment = true;
    Lexer Raw(SourceLocation(), Language, Text.getBufferStart(),
              Text.getBufferStart(), Text.getBufferEnd());
    bool IsNamed = false;
    for (bool IsLast = false; !IsLast;) {
      Token Next;
      IsLast = Raw.LexFromRawLexer(Next);
      if (IsNamed && Next.is(tok::l_paren))
        return true;
      IsNamed = Next.is(tok::raw_identifier) && Next.getRawIdentifier() == Name;
      if (IsNamed && !IsCalled)
        return true;
    }
    return false;
  }

  bool isSame(const MacroInfo *Before, const MacroInfo *Now) const {
    if (!Before || !Now)
      return Before == Now;
    return Before->isIdenticalTo(*Now, PP, /*Syntactically=*/true);
  }

  void asks(SourceLocation Loc, const Token &Name,
            const MacroDefinition &Macro) {
    if (Missing.empty() || !isUsers(Loc))
      return;
    const MacroInfo *Info = Macro.getMacroInfo();
    if (!Info || Info->isBuiltinMacro())
      return;
    const SourceLocation Defined = Info->getDefinitionLoc();
    if (!SM.isLoadedSourceLocation(Defined) ||
        SM.isWrittenInBuiltinFile(Defined) ||
        SM.isWrittenInCommandLineFile(Defined))
      return;
    // A header of the system that was included before has it, though Clang
    // skips that now: <cstddef> includes what defines NULL.
    if (isBehind(SM.getFilename(SM.getExpansionLoc(Defined))))
      return;
    Owner.doubt("asks for the macro '" + Name.getIdentifierInfo()->getName() +
                "' before the headers that define it");
  }

  /// What was included so far includes the file.
  bool isBehind(StringRef File) {
    if (!IsGraphRead)
      for (const std::string &Each : Owner.Graphs)
        Graph.decode(Each);
    IsGraphRead = true;
    return Graph.reaches(Included, File);
  }

  void settlePragma() {
    if (IsPragmaOpen)
      Owner.doubt("a pragma stands before LibTorch's headers");
    IsPragmaOpen = false;
  }

  Doubts &Owner;
  Preprocessor &PP;
  const SourceManager &SM;
  /// A _Pragma of which nothing else is known yet.
  bool IsPragmaOpen = false;
  /// Before the last of LibTorch's headers, skipped or not.
  std::vector<std::string> Included;
  IncludeGraph Graph;
  bool IsGraphRead = false;
  DenseSet<const FileEntry *> Missing;
  /// By headers of the system, and what they were in the precompiled header.
  MapVector<const IdentifierInfo *, const MacroInfo *> Changed;
};

void Doubts::watch(Preprocessor &PP) {
  PP.addPPCallbacks(std::make_unique<Watcher>(*this, PP));
}

void Doubts::judge(ASTContext &Context, ArrayRef<Decl *> Scope) {
  if (Entered.isValid())
    if (const std::string First = findPreceding(Context, Scope, Entered);
        !First.empty())
      return doubt(First);
  if (const std::string Lacking = findUninstantiated(Context, Scope);
      !Lacking.empty())
    doubt(Lacking);
}

} // namespace torchtidy::tool

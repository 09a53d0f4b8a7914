// Functions that a program never runs: nobody bears their cost.
#ifndef TORCHTIDY_FLOW_UNREACHED_H
#define TORCHTIDY_FLOW_UNREACHED_H

#include "flow/Functions.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace torchtidy::flow {

/// What a library does with the names of a program.
struct LibraryNames {
  /// A template of it may call F: forward(), begin().
  bool (*Calls)(const clang::FunctionDecl *F);
  /// The name that a macro of it makes the class's name from: Net of NetImpl.
  llvm::StringRef (*Stem)(const clang::CXXRecordDecl *Class);
};

/// Whether something else than its name in a line of the program may run F: it
/// is virtual, an operator, a template, `extern "C"`, or has an attribute that
/// keeps it.
bool mayRunUnnamed(const clang::FunctionDecl *F, const LibraryNames &Library);

/// What no line of a program runs. A translation unit is a program if its main
/// file has main(); it is known as a whole where other sources are included
/// from the command line (-include net.cpp), or as far as the main file goes.
/// What stands only in such code itself is such code. Nothing is said of what
/// mayRunUnnamed().
class Unreached {
public:
  Unreached(const UserFunctions &Functions, LibraryNames Library);

  /// Whether F is a function that no line names (often its only call is
  /// commented out), or a method of a class of which no line makes an object,
  /// but for lines that nobody runs.
  bool contains(const clang::FunctionDecl *F) const;

private:
  class Search;
  struct Names {
    llvm::DenseSet<const clang::FunctionDecl *> Functions;
    llvm::DenseSet<const clang::CXXRecordDecl *> Classes;
  };

  bool isOfProgram(const clang::Decl *D) const;

  const UserFunctions &Functions;
  LibraryNames Library;
  bool IsProgram = false;
  /// Other sources are known.
  bool IsWhole = false;
  mutable std::optional<Names> Found;
};

} // namespace torchtidy::flow

#endif

// Sources of unit tests, parsed in memory.
#ifndef TORCHTIDY_TEST_UNIT_SUPPORT_PARSE_H
#define TORCHTIDY_TEST_UNIT_SUPPORT_PARSE_H

#include "clang/AST/Decl.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace torchtidy::test {

struct ParseOptions {
  /// Further compiler arguments; the language standard is C++17.
  std::vector<std::string> Arguments;
  /// The source may hold errors: the AST is then what Clang makes of it. When
  /// not set, an error fails the running test and is printed.
  bool AllowErrors = false;
};

/// Parses plain C++; the headers of the standard library are there.
std::unique_ptr<clang::ASTUnit> parse(llvm::StringRef Code,
                                      const ParseOptions &Options = {});

/// The same with LibTorch's real headers: torch/torch.h and torch/script.h are
/// included by the tests' precompiled header.
std::unique_ptr<clang::ASTUnit> parseTorch(llvm::StringRef Code,
                                           const ParseOptions &Options = {});

/// The first definition of a function with this name in the source itself, in
/// order of text: functions, methods, lambdas' call operators ("operator()"),
/// instantiations (after their template's pattern). Fails the test when there
/// is none. A qualified name ("Net::forward") is one of a method.
const clang::FunctionDecl *findFunction(clang::ASTUnit &Unit,
                                        llvm::StringRef Name);

} // namespace torchtidy::test

#endif

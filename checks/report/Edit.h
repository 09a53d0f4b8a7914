// Changes of the source that fix-its are made of. Each gives nothing where the
// code comes from a macro, or where the change would not be safe.
#ifndef TORCHTIDY_REPORT_EDIT_H
#define TORCHTIDY_REPORT_EDIT_H

#include "flow/ControlFlow.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Diagnostic.h"
#include <vector>

namespace torchtidy::model {

/// Code as a statement of its own behind the statement that holds S, on a new
/// line with the same indentation; in braces where S is the only statement of a
/// loop or branch.
std::vector<clang::FixItHint> insertAfter(const clang::ASTContext &Context,
                                          const flow::ControlFlow &Flow,
                                          const clang::Stmt *S,
                                          llvm::StringRef Code);

/// Code as the first statement of a block.
std::vector<clang::FixItHint> insertFirst(const clang::ASTContext &Context,
                                          const clang::CompoundStmt *Block,
                                          llvm::StringRef Code);

/// Puts the statement that holds S into a block of its own, behind Code.
/// Nothing for a declaration, whose variable would end with the block.
std::vector<clang::FixItHint> putIntoBlock(const clang::ASTContext &Context,
                                           const flow::ControlFlow &Flow,
                                           const clang::Stmt *S,
                                           llvm::StringRef Code);

/// Code as a statement of its own before the statement that holds S, with the
/// same indentation. Nothing where S is the only statement of a loop or branch.
std::vector<clang::FixItHint> insertBefore(const clang::ASTContext &Context,
                                           const flow::ControlFlow &Flow,
                                           const clang::Stmt *S,
                                           llvm::StringRef Code);

/// E is evaluated whenever the statement around it is, so that it may come
/// before that: it stands in no branch of ?:, && or ||, and in no lambda.
bool isAlwaysEvaluated(const flow::ControlFlow &Flow, const clang::Expr *E);

/// Moves the declaration of V before the loop around it; Instead takes its
/// place, or nothing where that is empty. Nothing where another variable has
/// the name.
std::vector<clang::FixItHint> moveBeforeLoop(const clang::ASTContext &Context,
                                             const flow::ControlFlow &Flow,
                                             const clang::VarDecl *V,
                                             const clang::Stmt *Loop,
                                             llvm::StringRef Instead);

/// Takes out the statement that E is, with its line and the comments behind it.
/// Nothing where E is a part of another statement, or all that a branch or a
/// loop consists of without a block.
std::vector<clang::FixItHint> removeStatement(const clang::ASTContext &Context,
                                              const flow::ControlFlow &Flow,
                                              const clang::Expr *E);

/// Takes an argument out of a call, and what was only written to get to it
/// (backward({}, true)). Where others are written behind it, it becomes
/// Instead.
std::vector<clang::FixItHint> dropArgument(const clang::ASTContext &Context,
                                           const clang::CallExpr *Call,
                                           const clang::Expr *Argument,
                                           llvm::StringRef Instead);

/// Appends a member call (".detach()") to a tensor, in parentheses where they
/// are needed. Nothing for what only has a tensor in it.
std::vector<clang::FixItHint> appendCall(const clang::ASTContext &Context,
                                         const clang::Expr *E,
                                         llvm::StringRef Call);

/// Takes the wish for a gradient (.requires_grad_(), torch::requires_grad())
/// out of the expression that makes a tensor, and puts it at its end. Nothing
/// where there is not exactly one.
std::vector<clang::FixItHint> requireGradLast(const clang::ASTContext &Context,
                                              const clang::Expr *E);

/// "a = b;" becomes "a.call(b);".
std::vector<clang::FixItHint> assignByCall(const clang::ASTContext &Context,
                                           const flow::ControlFlow &Flow,
                                           const clang::Expr *Assignment,
                                           llvm::StringRef Call);

/// The module or tensor that E makes goes through a call that begins with Call:
/// "register_module(\"fc\", Linear(2, 2))", also where it initializes a member
/// of this type. Nothing where E is not written.
std::vector<clang::FixItHint> passThrough(const clang::ASTContext &Context,
                                          const clang::Expr *E,
                                          llvm::StringRef Call,
                                          clang::QualType Type);

} // namespace torchtidy::model

#endif

// The program to be changed: its functions, the uses of its variables, and the
// text of its syntax.
#ifndef TORCH_TIDY_MUTATION_PROGRAM_H
#define TORCH_TIDY_MUTATION_PROGRAM_H

#include "Mutation.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/StmtCXX.h"

#include <functional>
#include <memory>

namespace torchtidy::mutation {

/// A function of the user's with a body; lambdas belong to the function around
/// them.
struct Function {
  const clang::FunctionDecl *Decl;
  std::unique_ptr<clang::ParentMap> Parents;

  const clang::Stmt *body() const { return Decl->getBody(); }
  const clang::Stmt *parent(const clang::Stmt *S) const {
    return Parents->getParent(const_cast<clang::Stmt *>(S));
  }
  /// The innermost parent of a kind, below Limit.
  template <typename Kind>
  const Kind *enclosing(const clang::Stmt *S,
                        const clang::Stmt *Limit = nullptr) const {
    for (const clang::Stmt *Up = parent(S); Up && Up != Limit; Up = parent(Up))
      if (const auto *Found = llvm::dyn_cast<Kind>(Up))
        return Found;
    return nullptr;
  }
  /// Whether Inner is Outer or lies in it.
  bool contains(const clang::Stmt *Outer, const clang::Stmt *Inner) const;
  /// The loops around a statement, innermost first.
  std::vector<const clang::Stmt *> loops(const clang::Stmt *S) const;
};

struct Use {
  const clang::Expr *Node;
  const Function *In;
};

class Program {
public:
  /// Root: the folder of the user's code.
  Program(clang::ASTContext &Context, std::string Root,
          const std::vector<clang::Decl *> &TopLevel);

  clang::ASTContext &context() const { return Context; }
  const std::vector<Function> &functions() const { return Functions; }
  const std::vector<Use> &uses(const clang::ValueDecl *Of) const;
  const Function *find(const clang::FunctionDecl *Decl) const;
  bool isUserCode(clang::SourceLocation Location) const;

  /// The bytes of a range of tokens; none in macros and outside the user's
  /// code.
  std::optional<Piece> piece(clang::SourceRange Range) const;
  std::string text(const Piece &Where) const;
  std::string text(clang::SourceRange Range) const;
  /// An expression-statement or declaration with its semicolon, and with its
  /// line where it is alone on it. A body without braces becomes {}.
  std::optional<Edit> removal(const Function &In, const clang::Stmt *S) const;
  /// The whole statement with its semicolon.
  std::optional<Piece> statement(const clang::Stmt *S) const;
  /// What indents the line of this byte.
  std::string indentation(const Piece &Where) const;

  /// The statement itself and the bodies of all functions of the user's that
  /// can be called from it.
  std::vector<Piece> reach(const Function &In, const clang::Stmt *S) const;
  std::vector<Function const *> callees(const clang::Stmt *S) const;

  /// The text of the user's files.
  const Files &files() const { return Sources; }

private:
  const std::string *source(clang::FileID File, std::string &Name) const;

  clang::ASTContext &Context;
  std::string Root;
  std::vector<Function> Functions;
  std::map<const clang::FunctionDecl *, const Function *> Index;
  std::map<const clang::ValueDecl *, std::vector<Use>> UsesOf;
  mutable Files Sources;
};

/// Calls Visit for the statement and all below it, once each.
void forEach(const clang::Stmt *S,
             const std::function<void(const clang::Stmt *)> &Visit);

// What LibTorch's types and calls are, by name.
bool isTensor(clang::QualType Type);
bool derivesFrom(clang::QualType Type, llvm::StringRef Name);
bool isModule(clang::QualType Type);
bool isOptimizer(clang::QualType Type);
/// The method's name, or "" of another call.
llvm::StringRef methodName(const clang::CXXMemberCallExpr *Call);
/// Runs a module: forward(), operator(), or another method of a user's module.
bool isForward(const clang::Stmt *S);
/// What an expression names: a variable, or a field for `a.b`, `this->b`,
/// `p->b`, `b[i]` and std::get<0>(b).
const clang::ValueDecl *placeOf(const clang::Expr *E);
/// Without casts, copies and temporaries.
const clang::Expr *plain(const clang::Expr *E);

} // namespace torchtidy::mutation

#endif

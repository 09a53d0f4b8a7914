#include "torch/Callbacks.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

namespace {

enum class Caller {
  None,
  /// Calls its last argument for elements.
  Algorithm,
  First,
  /// std::visit(f, variants...).
  Visit,
  Second,
  /// std::async(policy, f, ...), std::async(f, ...).
  Async,
  /// at::parallel_for(begin, end, grain, f).
  Parallel,
  /// c10::ThreadPool::run(f).
  Pool,
};

} // namespace

static Caller callerOf(StringRef Name) {
  return llvm::StringSwitch<Caller>(Name)
      .Cases("for_each", "for_each_n", "transform", Caller::Algorithm)
      .Cases("generate", "generate_n", "accumulate", Caller::Algorithm)
      .Cases("all_of", "any_of", "none_of", Caller::Algorithm)
      .Cases("find_if", "count_if", "remove_if", "sort", Caller::Algorithm)
      .Case("parallel_for", Caller::Parallel)
      .Cases("invoke", "launch", "step", Caller::First)
      .Case("visit", Caller::Visit)
      .Case("call_once", Caller::Second)
      .Case("async", Caller::Async)
      .Case("run", Caller::Pool)
      .Default(Caller::None);
}

/// c10::ThreadPool, and its base.
static bool isPool(const FunctionDecl *Callee) {
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  return Method && ast::nameOf(Method->getParent()).contains("ThreadPool");
}

/// std::launch::deferred alone: the one who asks for the result runs it.
static bool isDeferred(const Expr *Policy) {
  const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Policy));
  return Ref && ast::nameOf(Ref->getDecl()) == "deferred";
}

/// at::parallel_for(begin, end, grain, f) leaves to the caller what is no more
/// than a grain; where that is thousands, nobody knows whether there is more.
static bool isCoarse(const FunctionDecl *Callee,
                     llvm::ArrayRef<const Expr *> Arguments) {
  Expr::EvalResult Grain;
  return Arguments.size() != 4 || Arguments[2]->isValueDependent() ||
         !Arguments[2]->EvaluateAsInt(Grain, Callee->getASTContext()) ||
         Grain.Val.getInt() > 1000;
}

std::optional<Callback> callbackOf(const FunctionDecl *Callee,
                                   llvm::ArrayRef<const Expr *> Arguments) {
  Callback Result;
  const Caller Of = callerOf(ast::nameOf(Callee));
  switch (Of) {
  case Caller::None:
    return std::nullopt;
  case Caller::Algorithm:
  case Caller::Parallel:
    if (Arguments.empty())
      return std::nullopt;
    Result.Position = Arguments.size() - 1;
    Result.Repeats = true;
    Result.IsSpread = Of == Caller::Parallel &&
                      Callee->getASTContext().getLangOpts().OpenMP != 0 &&
                      !isCoarse(Callee, Arguments);
    break;
  case Caller::Pool:
    if (!isPool(Callee))
      return std::nullopt;
    Result.IsThread = true;
    break;
  case Caller::First:
    break;
  case Caller::Visit:
    if (!isStd(Callee))
      return std::nullopt;
    Result.Unpacks = true;
    break;
  case Caller::Second:
    Result.Position = 1;
    break;
  case Caller::Async:
    Result.IsThread = true;
    if (Arguments.size() > 1 && Arguments[0]->getType()->isEnumeralType()) {
      Result.Position = 1;
      Result.IsThread = !isDeferred(Arguments[0]);
    }
    break;
  }
  if (Result.Position >= Arguments.size())
    return std::nullopt;
  return Result;
}

bool callsForModules(const FunctionDecl *Callee) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  return Method && isLibTorch(Method) && ast::nameOf(Method) == "apply" &&
         kindOf(Method->getParent()) == TypeKind::Module;
}

bool bindsArguments(const FunctionDecl *Callee) {
  return stdName(Callee) == "bind";
}

std::optional<unsigned> placeholderIndex(const Expr *E) {
  const auto *Placeholder = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      E && !E->getType().isNull() ? recordOf(E->getType()) : nullptr);
  if (!Placeholder || !isStd(Placeholder) ||
      ast::nameOf(Placeholder) != "_Placeholder")
    return std::nullopt;
  const TemplateArgument &Number = Placeholder->getTemplateArgs()[0];
  if (Number.getKind() != TemplateArgument::Integral)
    return std::nullopt;
  return Number.getAsIntegral().getZExtValue() - 1;
}

} // namespace torchtidy::torch

#include "torch/Std.h"
#include "ast/Names.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

static StdMeaning byName(StringRef Name) {
  return llvm::StringSwitch<StdMeaning>(Name)
      .Case("move", StdMeaning::Move)
      .Case("forward", StdMeaning::Forward)
      .Cases("ref", "cref", "as_const", StdMeaning::Same)
      .Cases("static_pointer_cast", "dynamic_pointer_cast", StdMeaning::Same)
      .Cases("next", "prev", "advance", StdMeaning::Same)
      .Cases("make_shared", "make_unique", "make_intrusive", StdMeaning::Make)
      .Cases("make_tuple", "make_pair", StdMeaning::Tuple)
      .Cases("tie", "forward_as_tuple", StdMeaning::Tie)
      .Case("get", StdMeaning::Get)
      .Cases("value", "lock", StdMeaning::Dereference)
      .Cases("begin", "end", "cbegin", "cend", StdMeaning::Iterator)
      .Cases("rbegin", "rend", "find", "data", StdMeaning::Iterator)
      .Cases("at", "front", "back", "top", StdMeaning::Element)
      .Cases("push_back", "emplace_back", StdMeaning::Append)
      .Cases("push_front", "emplace_front", StdMeaning::Append)
      .Cases("insert", "insert_or_assign", StdMeaning::Append)
      .Cases("emplace", "try_emplace", StdMeaning::Append)
      .Cases("push", "append", "assign", StdMeaning::Append)
      .Cases("fill", "fill_n", StdMeaning::Fill)
      .Case("clear", StdMeaning::Clear)
      .Cases("pop_back", "pop_front", "pop", "erase", StdMeaning::Remove)
      .Case("resize", StdMeaning::Resize)
      .Case("extract", StdMeaning::Extract)
      .Case("swap", StdMeaning::Swap)
      .Case("exchange", StdMeaning::Exchange)
      .Case("reset", StdMeaning::Reset)
      .Case("reserve", StdMeaning::Reserve)
      .Case("release", StdMeaning::GiveUp)
      .Case("detach", StdMeaning::Detach)
      .Case("for_each", StdMeaning::ForEach)
      .Case("transform", StdMeaning::Transform)
      .Cases("size", "empty", "count", "capacity", StdMeaning::Nothing)
      .Default(StdMeaning::Unknown);
}

StdMeaning meaning(const FunctionDecl *F) {
  switch (F ? F->getOverloadedOperator() : OO_None) {
  case OO_Star:
  case OO_Arrow:
    return StdMeaning::Dereference;
  case OO_Subscript:
    return StdMeaning::Element;
  case OO_PlusPlus:
  case OO_MinusMinus:
    return StdMeaning::Same;
  default:
    return byName(ast::nameOf(F));
  }
}

bool reallocates(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("clear", "resize", "assign", true)
      .Cases("push_back", "emplace_back", "insert", true)
      .Cases("emplace", "append", "shrink_to_fit", true)
      .Default(false);
}

bool isBegin(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "begin";
}

bool looksUp(const FunctionDecl *F) { return ast::nameOf(F) == "find"; }

bool pointsIntoContainer(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("begin", "end", "cbegin", "data", true)
      .Default(false);
}

bool keepsArgument(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("push_back", "emplace_back", "insert", "emplace", true)
      .Default(false);
}

bool takesNumber(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "assign" || ast::nameOf(Method) == "insert";
}

bool constructsLast(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "emplace_back";
}

bool makesByConstructor(const FunctionDecl *F) {
  return ast::nameOf(F) == "make_shared" || ast::nameOf(F) == "make_unique";
}

bool refersToArguments(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("tie", "ref", "forward_as_tuple", true)
      .Default(false);
}

bool onlyComputes(const FunctionDecl *F) {
  if (!F)
    return false;
  const OverloadedOperatorKind Operator = F->getOverloadedOperator();
  if (Operator == OO_EqualEqual || Operator == OO_ExclaimEqual)
    return true;
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("move", "forward", "get", true)
      .Cases("make_tuple", "make_pair", "min", "max", true)
      .Default(false);
}

bool writesElements(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("generate", "generate_n", "transform", "copy", "swap", true)
      .Default(false);
}

bool appendsOneElement(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "push_back" || constructsLast(Method);
}

bool onlyAccesses(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("get", "tie", "forward", "move", true)
      .Cases("begin", "end", "cbegin", "cend", "data", true)
      .Cases("ref", "cref", "as_const", true)
      .Default(false);
}

bool accessesElement(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("begin", "at", "front", "back", true)
      .Cases("data", "get", "value", true)
      .Default(false);
}

bool waitsForThread(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  if (!Method)
    return false;
  const StringRef Class = ast::nameOf(Method->getParent());
  const StringRef Name = ast::nameOf(Method);
  const bool IsShared = Class.contains("future") || Class == "latch" ||
                        Class.starts_with("condition_variable") ||
                        Class.ends_with("thread") || Class.contains("sema") ||
                        Class == "barrier";
  return IsShared && (Name == "get" || Name == "join" || Name == "acquire" ||
                      Name.contains("wait"));
}

bool callsOnce(const FunctionDecl *F) { return ast::nameOf(F) == "call_once"; }

bool replacesElements(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("clear", "swap", "assign", true)
      .Default(false);
}

} // namespace torchtidy::torch

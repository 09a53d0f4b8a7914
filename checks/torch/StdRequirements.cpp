#include "torch/StdRequirements.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool mayBeCalledByStd(const FunctionDecl *Method) {
  if (!Method->getDeclName().isIdentifier())
    return true;
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("allocate", "deallocate", "construct", "destroy", "max_size", true)
      .Cases("allocate_at_least", "rebind", "pointer_to", true)
      .Cases("begin", "end", "cbegin", "cend", "rbegin", "rend", true)
      .Cases("size", "empty", "capacity", "data", "swap", "get", true)
      .Cases("front", "back", "push", "pop", "push_back", "pop_back", true)
      .Cases("push_front", "pop_front", "insert", "emplace", "erase", true)
      .Cases("emplace_back", "emplace_front", "clear", "resize", true)
      .Cases("reserve", "assign", "find", "count", "at", "base", true)
      .Cases("eq", "lt", "compare", "length", "copy", "move", true)
      .Cases("min", "max", "seed", "generate", "param", "reset", true)
      .Cases("lock", "unlock", "try_lock", "try_lock_for", true)
      .Cases("try_lock_until", "lock_shared", "unlock_shared", true)
      .Cases("try_lock_shared", "wait", "notify_one", "notify_all", true)
      .Cases("now", "release", "what", "transform", "format", "parse", true)
      // torch::load() and torch::save() of a holder call these of its module.
      .Cases("load", "save", true)
      .Default(false);
}

bool callsAsStdDoes(const NamedDecl *Template) {
  if (isStd(Template))
    return true;
  return isLibTorch(Template) &&
         llvm::StringSwitch<bool>(ast::nameOf(Template))
             .Cases("ModuleHolder", "Cloneable", true)
             .Cases("register_module", "replace_module", "as", true)
             .Cases("load", "save", true)
             .Default(false);
}

} // namespace torchtidy::torch

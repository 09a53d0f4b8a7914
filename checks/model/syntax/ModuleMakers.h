// Functions of the user's that make a module and return it. Part of the
// syntactic engine: see Variables.h.
#ifndef TORCHTIDY_SYNTAX_MODULEMAKERS_H
#define TORCHTIDY_SYNTAX_MODULEMAKERS_H

#include "model/syntax/FreshModules.h"
#include <optional>

namespace torchtidy::model {

/// What is in the module that E makes, itself or by a call of a function that
/// makes one, fills it and gives it initial values, and keeps no handle to it.
/// Nothing where something else may have one, or has a say in how it is
/// trained: eval(), requires_grad_(), load().
std::optional<ModuleContent> contentOfFresh(const clang::Expr *E);

} // namespace torchtidy::model

#endif

// What a type is made of.
#ifndef TORCHTIDY_TOOL_HEADERS_TYPEPARTS_H
#define TORCHTIDY_TOOL_HEADERS_TYPEPARTS_H

#include "clang/AST/DeclBase.h"
#include "clang/AST/TemplateBase.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::tool {

/// Calls See with the classes, enumerations and templates that a type is made
/// of: what it points to, refers to or is an array of, what a function takes
/// and returns, and what is known of a type that depends on a template's
/// parameters. Of a class that is made from a template, it is that class, not
/// what the template was given. A null type has none.
void forEachNamed(clang::QualType Type,
                  llvm::function_ref<void(const clang::Decl *)> See);

/// Of an argument of a template, which may also be a declaration, a template,
/// or a pack of arguments.
void forEachNamed(const clang::TemplateArgument &Argument,
                  llvm::function_ref<void(const clang::Decl *)> See);

} // namespace torchtidy::tool

#endif

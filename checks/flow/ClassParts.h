// Where a class is written, and whether a line has to name it to make an object
// of it.
#ifndef TORCHTIDY_FLOW_CLASSPARTS_H
#define TORCHTIDY_FLOW_CLASSPARTS_H

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::flow {

/// Objects of it may be made, or its code run, without its name in a line: it
/// is a template, local to a function or without a name, a variable is declared
/// with it, or a static member begins with what is computed.
bool mayBeMadeUnnamed(const clang::CXXRecordDecl *Class);

/// What declares the class, which has a definition, and what defines its
/// members elsewhere; not what a static member begins with, which may hand out
/// the class when a program starts.
llvm::SmallVector<clang::SourceRange, 8>
partsOf(const clang::CXXRecordDecl *Class);

/// The file refers to the function, or has what does without its name.
bool isMentioned(const clang::FunctionDecl *F);
/// The file refers to a constructor of it, or has what does without its name.
bool isConstructorMentioned(const clang::CXXRecordDecl *Class);

} // namespace torchtidy::flow

#endif

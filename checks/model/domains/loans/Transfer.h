// Memory that one object owns and another uses: who lends it, when it ends, who
// uses it afterwards. A loan is known by its owner, a place. An owner whose
// memory may live on without it (moved, swapped, returned, a handle that was
// copied) is given up: its end ends nothing from then on.
#ifndef TORCHTIDY_DOMAINS_LOANS_TRANSFER_H
#define TORCHTIDY_DOMAINS_LOANS_TRANSFER_H

#include "model/domains/Transfers.h"
#include "model/state/Event.h"
#include "torch/Api.h"

namespace torchtidy::model {
namespace loans {

void operation(Machine &M, const OperationCall &Call, Value &Result);

// Who lends: Transfer.cpp.

/// The objects whose memory a pointer leads to; none where one is not known.
PlaceSet lenders(Machine &M, const clang::Expr *Pointer);
/// The object whose end is the end of the memory at P. Nothing where that
/// cannot be known: behind pointers and references whose target is elsewhere.
std::optional<PlaceId> ownerOf(Machine &M, PlaceId P);
/// To uses, from Site on, the memory of Owners.
void lend(Machine &M, Value &To, const clang::Expr *Site,
          const PlaceSet &Owners);
void giveUp(Machine &M, const PlaceSet &Owners);
/// P begins its life, or is filled anew: it is the only owner of its memory.
void own(Machine &M, PlaceId P);
/// A copy of a handle shares the memory.
void shareHandle(Machine &M, const clang::Expr *E);
/// Code that cannot be seen may keep a copy of a handle to memory, or put
/// another one into it.
void shareArguments(Machine &M, const clang::FunctionDecl *Callee,
                    const clang::Expr *Object,
                    llvm::ArrayRef<const clang::Expr *> Arguments);
/// Targets, which To denotes, get what From is: what they owned is gone.
void replaceOwned(Machine &M, const clang::Expr *Site, const clang::Expr *To,
                  const clang::Expr *From, const PlaceSet &Targets);
/// A task, or a module, keeps it.
void keepInBackground(Machine &M, const Value &V);

/// The local variable at P, or null.
const clang::VarDecl *localVariable(Machine &M, PlaceId P);

// What leads into objects that an expression makes: Views.cpp.

/// What a call lends of the object that it is made on.
void lendOfObject(Machine &M, const clang::CallExpr *Call, Value &To);
/// An ArrayRef that is kept, over a list, a container or a value.
void lendToList(Machine &M, const clang::CXXConstructExpr *Construct, Value &To,
                bool IsTemporary);

// Who has what a call returns: Results.cpp.

/// Layers and containers of LibTorch, and script modules, compute what they
/// return.
bool isLayer(const clang::CallExpr *Call);
/// A pass of a module, or a call of a function of the file, returns a tensor
/// that an operation has made and nobody else has, or a view of one.
bool computesResult(const clang::CallExpr *Call);

// When memory ends: Ends.cpp.

void endMemory(Machine &M, PlaceId Dead, EndKind How, const clang::Expr *Site);
/// What a unique_ptr holds ends with it.
void endHeld(Machine &M, PlaceId Pointer, EndKind How, const clang::Expr *Site);
void endScope(Machine &M, const clang::VarDecl *V);
/// The temporaries of an expression end when Whole, the full expression around
/// it, has been evaluated.
void endFullExpression(Machine &M, const clang::Stmt *Whole);
void endFrame(Machine &M, const Frame *Ended);
/// A member of a container that moves or ends its elements, as vectors do.
void reallocate(Machine &M, const clang::CallExpr *Call,
                const PlaceSet &Containers);

// Who reads memory that is gone: Transfer.cpp, Views.cpp.

/// Something that uses memory which is gone is read at Site, if V is such.
void touch(Machine &M, const clang::Expr *Site, const Value &V);
void touchVariable(Machine &M, const clang::DeclRefExpr *Ref);
/// What reads the data of tensors that it is given.
void touchOperands(Machine &M, const clang::CallExpr *Call,
                   const torch::Call &Kind, const clang::Expr *Object,
                   llvm::ArrayRef<const clang::Expr *> Arguments);

} // namespace loans
} // namespace torchtidy::model

#endif

// What each domain adds to the meaning of the program. What a domain answers is
// a row in Transfers.cpp; the machine and the semantics ask all of them in
// turn.
#ifndef TORCHTIDY_DOMAINS_TRANSFERS_H
#define TORCHTIDY_DOMAINS_TRANSFERS_H

#include "model/base/Ids.h"
#include "model/state/Value.h"
#include "torch/Operations.h"
#include "llvm/ADT/ArrayRef.h"

namespace clang {
class CallExpr;
class Expr;
} // namespace clang

namespace torchtidy::model {

class Machine;

/// A call of a tensor operation.
struct OperationCall {
  const clang::CallExpr *Call;
  const torch::Operation *Op;
  /// The object first, then the arguments that are written.
  llvm::SmallVector<const clang::Expr *, 4> Operands;
  /// Of each operand: its value with everything in it.
  llvm::SmallVector<Value, 4> Values;

  /// Of the first operand; nothing is known where there is none.
  Value self() const { return Values.empty() ? Value() : Values.front(); }
  bool isFactory() const;
};

/// A call of a library function that no table describes, or of a module whose
/// forward() is not seen.
struct LibraryCall {
  const clang::CallExpr *Call;
  bool IsForward = false;
  /// The arguments that are written.
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  /// Of each argument: its value with everything in it.
  llvm::SmallVector<Value, 4> Values;

  LibraryCall(Machine &M, const clang::CallExpr *Call,
              llvm::ArrayRef<const clang::Expr *> All);
};

/// The answers of one domain; null where it has none. Where several values
/// meet, Value::join() asks the lattices.
struct DomainTransfer {
  llvm::StringRef Name;
  /// What lies at a place when nothing has been stored there.
  void (*Initial)(Machine &, PlaceId, Value &Result);
  /// What lies at a place of which only something around it is known. Part is
  /// what is known of the whole, and loses what does not hold of its parts.
  void (*Part)(Machine &, PlaceId, Value &Part);
  /// What is loaded from a place says besides what was stored there.
  void (*Loaded)(Machine &, PlaceId, Value &Loaded);
  /// What an operation returns, or what it writes. Domains are asked in order:
  /// each finds in Result what those before it have said.
  void (*Operation)(Machine &, const OperationCall &, Value &Result);
  /// What a call returns that is no operation. Before the first domain is asked
  /// nothing is known of the result.
  void (*Call)(Machine &, const LibraryCall &, Value &Result);
  /// What Target, a tensor, is after Written was computed into its memory; it
  /// is rewritten as a whole, or in some of its elements.
  void (*Write)(Machine &, const Value &Written, bool IsWhole, Value &Target);
  /// What code that is not seen may have made of a tensor that it could write.
  void (*Lost)(Value &Tensor);
  /// The same of an object that it was given to change: a module that it may
  /// have moved, or put into eval mode.
  void (*Given)(Machine &, PlaceId Object);
};

/// In the order in which they are asked.
llvm::ArrayRef<DomainTransfer> domainTransfers();

/// The answers of all domains.
/// @{
Value initialValue(Machine &M, PlaceId P);
Value partOf(Machine &M, PlaceId P, const Value &Whole);
void describeLoaded(Machine &M, PlaceId P, Value &Loaded);
Value resultOf(Machine &M, const OperationCall &Call);
Value resultOf(Machine &M, const LibraryCall &Call);
void write(Machine &M, const Value &Written, bool IsWhole, Value &Target);
/// Objects, with everything in them.
void lose(Machine &M, const PlaceSet &Objects);
/// @}

} // namespace torchtidy::model

#endif

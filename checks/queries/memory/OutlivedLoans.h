// Memory that a value goes on to use after it has ended: what BlobLifetime and
// DanglingData share.
#ifndef TORCHTIDY_QUERIES_MEMORY_OUTLIVEDLOANS_H
#define TORCHTIDY_QUERIES_MEMORY_OUTLIVEDLOANS_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct OutlivedLoan {
  const Execution *Entry = nullptr;
  /// Who took the memory, and from whom.
  const Loan *Taken = nullptr;
  /// The memory ends.
  const EndEvent *End = nullptr;
  /// What uses it is read afterwards; or else it lives on when the entry, or a
  /// function that owned the memory, is over. One of them is null.
  const TouchEvent *Touch = nullptr;
  const HoldEvent *Hold = nullptr;
};

/// What lives on is, or lies in, what the function returns.
bool isReturned(const OutlivedLoan &Found);

/// The variable that is or contains the owner; null where there is none, and
/// where the caller had it that has handed the memory over.
const clang::VarDecl *ownerVariable(const OutlivedLoan &Found);

/// A tensor takes the memory: from_blob(). Otherwise it is a pointer, a
/// reference or a list that leads into the owner.
bool isBlob(const Loan &Taken);

/// Of the loans that are Wanted. A function that hands out memory which ends
/// with it is wrong, whether a caller reads it or not. Nothing is reported
/// where the owner is not known, or where its memory may live on without it (it
/// is moved, swapped, or shared by handles).
std::vector<OutlivedLoan>
outlivedLoans(Program &Program, llvm::function_ref<bool(const Loan &)> Wanted);

} // namespace torchtidy::model

#endif

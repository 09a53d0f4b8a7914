// What all states of one execution share: the names of things, and the work
// that was done. Looking a name up makes it where it is new; nothing here says
// what holds at a point.
#ifndef TORCHTIDY_MACHINE_TABLES_H
#define TORCHTIDY_MACHINE_TABLES_H

#include "model/base/Place.h"
#include "model/domains/aliases/Lattice.h"
#include "model/domains/history/Lattice.h"
#include "model/domains/loans/Lattice.h"
#include "model/domains/saved/Lattice.h"
#include <map>

namespace torchtidy::model {

struct Tables {
  PlaceTable Places;
  std::vector<Origin> Origins;
  std::vector<Allocation> Allocations;
  std::vector<Loan> Loans;
  std::vector<Save> Saves;
  std::vector<Overwrite> Overwrites;
  /// How many values have been read and written: what the analysis costs, told
  /// in numbers that are the same on every machine.
  unsigned long Work = 0;

  const Origin &at(OriginId Id) const { return Origins[Id.number()]; }
  const Allocation &at(AllocationId Id) const {
    return Allocations[Id.number()];
  }
  const Loan &at(LoanId Id) const { return Loans[Id.number()]; }
  const Save &at(SaveId Id) const { return Saves[Id.number()]; }

  /// Of what happens at a site, in one frame.
  OriginId origin(Origin::Kind Of, const Frame *In, const clang::Expr *Site);
  /// Of what a place held when the entry was entered (Entry), or of what was
  /// read from a member (Member).
  OriginId origin(Origin::Kind Of, const Frame *Root, PlaceId Place);
  AllocationId allocation(const Frame *In, const clang::Expr *Site);
  /// The memory of a tensor from outside.
  AllocationId allocation(const Frame *Root, PlaceId Place);
  LoanId loan(const Frame *In, const clang::Expr *Site, PlaceId Owner);
  SaveId save(const Save &New);
  OverwriteId overwrite(const Overwrite &New);

private:
  using Key = std::pair<const Frame *, const clang::Expr *>;
  llvm::DenseMap<std::pair<Key, unsigned>, OriginId> OriginsAt;
  llvm::DenseMap<std::pair<PlaceId, unsigned>, OriginId> OriginsOf;
  llvm::DenseMap<Key, AllocationId> AllocationsAt;
  llvm::DenseMap<PlaceId, AllocationId> AllocationsOf;
  llvm::DenseMap<std::pair<Key, PlaceId>, LoanId> LoansAt;
  /// By what is kept: the result, an operand, weights.
  llvm::DenseMap<std::pair<Key, std::pair<const clang::Expr *, unsigned>>,
                 SaveId>
      SavesAt;
  llvm::DenseMap<std::pair<Key, SaveId>, OverwriteId> OverwritesAt;
};

} // namespace torchtidy::model

#endif

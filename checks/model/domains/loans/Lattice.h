// Memory that a value uses and does not own.
#ifndef TORCHTIDY_DOMAINS_LOANS_LATTICE_H
#define TORCHTIDY_DOMAINS_LOANS_LATTICE_H

#include "model/base/Ids.h"

namespace clang {
class Expr;
}

namespace torchtidy::model {

struct Frame;

/// An owner lends its memory at a site: from_blob(v.data()), x.sizes().
struct Loan {
  const Frame *In;
  const clang::Expr *Site;
  PlaceId Owner;
};

struct Borrows {
  /// The loans that it uses, and those of them whose memory has ended.
  LoanSet Loans, Dangling;

  bool borrows() const {
    assert(std::includes(Loans.begin(), Loans.end(), Dangling.begin(),
                         Dangling.end()) &&
           "memory has ended that it does not use");
    return !Loans.empty();
  }
  void takeLoans(const Borrows &From) {
    insert(Loans, From.Loans);
    insert(Dangling, From.Dangling);
  }
  void forgetLoans() {
    Loans.clear();
    Dangling.clear();
  }

  bool join(const Borrows &Other) {
    const bool Changed = insert(Loans, Other.Loans);
    return insert(Dangling, Other.Dangling) || Changed;
  }
  bool operator==(const Borrows &Other) const {
    return Loans == Other.Loans && Dangling == Other.Dangling;
  }
};

} // namespace torchtidy::model

#endif

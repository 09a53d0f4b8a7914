// Who reads what members hold, and whether with its history.
#ifndef TORCHTIDY_QUERIES_PATHS_MEMBERREADS_H
#define TORCHTIDY_QUERIES_PATHS_MEMBERREADS_H

#include "model/execution/Program.h"
#include <map>
#include <set>

namespace torchtidy::model {

/// No code of another file reaches the member: it is private, with all methods
/// and friends of its class defined here, or its class is declared in a source
/// file.
bool isClosed(const Program &User, const clang::FieldDecl *Member);

class MemberReads {
public:
  /// Looks at all entries of the program when it is first asked; the program
  /// must outlive it.
  explicit MemberReads(Program &User) : User(User) {}

  /// A place that reads the member that P is, or lies in, and leaves its
  /// history behind, if all reads of the member do. Null otherwise, and if code
  /// outside this file may read it.
  const clang::Expr *discardOf(const PlaceTable &Places, PlaceId P) const;

private:
  void read() const;
  /// Something uses V with its history.
  void addUse(const Execution &Entry, const Value &V) const;

  Program &User;
  mutable std::map<const clang::FieldDecl *, const clang::Expr *> Discards;
  mutable std::set<const clang::FieldDecl *> Uses;
  mutable bool IsRead = false, IsSure = true;
};

} // namespace torchtidy::model

#endif

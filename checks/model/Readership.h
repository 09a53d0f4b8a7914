// Who reads what members hold, and whether with its history.
#ifndef TORCHTIDY_MODEL_READERSHIP_H
#define TORCHTIDY_MODEL_READERSHIP_H

#include "model/Program.h"

namespace torchtidy::model {

class Readership {
public:
  /// Looks at all ways into the program when it is first asked; the program
  /// must outlive it.
  explicit Readership(Program &User) : User(User) {}

  /// A place where the member that P is, or lies in, is read and its history is
  /// left behind, when that is so wherever it is read. Null otherwise, and
  /// where code that is not in this file may read it: the member must be
  /// private, with all methods and friends of its class defined here, or its
  /// class be declared in a source file.
  const clang::Expr *discardOf(const PlaceTable &Places, PlaceId P) const;

private:
  void read() const;
  bool isClosed(const clang::FieldDecl *Member) const;

  Program &User;
  mutable std::map<const clang::FieldDecl *, const clang::Expr *> Discards;
  mutable std::set<const clang::FieldDecl *> Uses;
  mutable bool IsRead = false, IsSure = true;
};

} // namespace torchtidy::model

#endif

#include "model/Readership.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace torchtidy::model {

/// The members on the way to P, the innermost first.
static llvm::SmallVector<const FieldDecl *, 2>
membersOf(const PlaceTable &Places, PlaceId P) {
  llvm::SmallVector<const FieldDecl *, 2> Result;
  for (; !Places.isRoot(P); P = Places.parent(P))
    if (Places.step(P).Of == Step::Field)
      Result.push_back(Places.step(P).Member);
  return Result;
}

/// The members that V was read from.
static llvm::SmallVector<const FieldDecl *, 2>
membersBehind(const Execution &Way, const Value &V) {
  llvm::SmallVector<const FieldDecl *, 2> Result;
  auto Add = [&](PlaceId P) { Result.append(membersOf(Way.places(), P)); };
  for (OriginId Id : V.Origins) {
    const Origin &From = Way.origin(Id);
    if (From.Of == Origin::Entry || From.Of == Origin::Member)
      Add(From.Place);
  }
  // What was stored there before, on the same way.
  for (const Event &E : Way.events())
    if (E.Kind == EventKind::Store && V.hasOrigin(E.Origin))
      for (PlaceId P : E.Places)
        Add(P);
  return Result;
}

void Readership::read() const {
  IsRead = true;
  for (const auto &Way : User.executions()) {
    for (const Event &E : Way->events()) {
      switch (E.Kind) {
      case EventKind::Discard:
        for (const FieldDecl *Member : membersBehind(*Way, E.Result))
          Discards.try_emplace(Member, E.Site);
        break;
      case EventKind::Escape:
        for (PlaceId P : E.Places)
          for (const FieldDecl *Member : membersOf(Way->places(), P))
            Uses.insert(Member);
        [[fallthrough]];
      case EventKind::Backward:
      case EventKind::Grad:
      case EventKind::Inspect:
        for (const FieldDecl *Member : membersBehind(*Way, E.Result))
          Uses.insert(Member);
        IsSure &= !E.Result.ManyOrigins;
        break;
      case EventKind::Forward:
        for (const FieldDecl *Member : membersBehind(*Way, E.Input))
          Uses.insert(Member);
        IsSure &= !E.Input.ManyOrigins;
        break;
      case EventKind::Store: {
        // Kept elsewhere, who knows what for. What is added up stays there.
        llvm::SmallVector<const FieldDecl *, 2> Into;
        bool Leaves = false;
        for (PlaceId P : E.Places) {
          Into.append(membersOf(Way->places(), P));
          Leaves |= Way->isFromOutside(P);
        }
        for (const FieldDecl *Member : membersBehind(*Way, E.Result))
          if (Leaves && !llvm::is_contained(Into, Member))
            Uses.insert(Member);
        break;
      }
      default:
        break;
      }
    }
  }
}

const Expr *Readership::discardOf(const PlaceTable &Places, PlaceId P) const {
  if (!IsRead)
    read();
  if (!User.isComplete() || !IsSure)
    return nullptr;
  for (const FieldDecl *Member : membersOf(Places, P)) {
    auto It = Discards.find(Member);
    if (It != Discards.end() && !Uses.count(Member) && isClosed(Member))
      return It->second;
  }
  return nullptr;
}

/// Every function of the class that somebody has written is in this file.
static bool isDefinedHere(const CXXRecordDecl *Record) {
  Record = Record->getDefinition();
  if (!Record)
    return false;
  auto HasBody = [](const FunctionDecl *F) {
    return F->isImplicit() || F->isDeleted() || F->isDefaulted() ||
           F->isPureVirtual() || F->isDefined();
  };
  for (const Decl *D : Record->decls()) {
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      D = Template->getTemplatedDecl();
    if (const auto *F = dyn_cast<FunctionDecl>(D); F && !HasBody(F))
      return false;
    if (const auto *Nested = dyn_cast<CXXRecordDecl>(D);
        Nested && !Nested->isImplicit() && !Nested->isLambda() &&
        !isDefinedHere(Nested))
      return false;
    const auto *Friend = dyn_cast<FriendDecl>(D);
    if (!Friend)
      continue;
    if (const TypeSourceInfo *Type = Friend->getFriendType()) {
      const CXXRecordDecl *Class = Type->getType()->getAsCXXRecordDecl();
      // Two classes may be friends of each other.
      if (!Class || !Class->getDefinition())
        return false;
      for (const CXXMethodDecl *Method : Class->getDefinition()->methods())
        if (!HasBody(Method))
          return false;
    } else if (const auto *F =
                   dyn_cast_or_null<FunctionDecl>(Friend->getFriendDecl());
               !F || !F->isDefined()) {
      return false;
    }
  }
  return true;
}

bool Readership::isClosed(const FieldDecl *Member) const {
  const auto *Record = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Record)
    return false;
  const ASTContext &Context = User.context();
  const bool IsSourceFile = !Context.getLangOpts().IsHeaderFile;
  if (IsSourceFile &&
      User.sourceManager().isInMainFile(
          User.sourceManager().getExpansionLoc(Record->getLocation())))
    return true;
  return Member->getAccess() == AS_private && isDefinedHere(Record);
}

} // namespace torchtidy::model

#include "queries/paths/MemberReads.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::model {

/// The members on the path to P, the innermost first.
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
membersBehind(const Execution &Entry, const Value &V) {
  llvm::SmallVector<const FieldDecl *, 2> Result;
  auto Add = [&](PlaceId P) { Result.append(membersOf(Entry.places(), P)); };
  for (OriginId Id : V.Origins) {
    const Origin &From = Entry.origin(Id);
    if (From.Of == Origin::Entry || From.Of == Origin::Member)
      Add(From.Place);
  }
  // What was stored there before, in the same entry.
  for (const StoreEvent &Store : Entry.events<StoreEvent>())
    if (V.hasOrigin(Store.Origin))
      for (PlaceId P : Store.Places)
        Add(P);
  return Result;
}

void MemberReads::addUse(const Execution &Entry, const Value &V) const {
  for (const FieldDecl *Member : membersBehind(Entry, V))
    Uses.insert(Member);
  IsSure &= !V.ManyOrigins;
}

void MemberReads::read() const {
  IsRead = true;
  for (const auto &Entry : User.executions()) {
    for (const DiscardEvent &Discard : Entry->events<DiscardEvent>())
      for (const FieldDecl *Member : membersBehind(*Entry, Discard.Left))
        Discards.try_emplace(Member, Discard.Site);
    for (const EscapeEvent &Escape : Entry->events<EscapeEvent>()) {
      for (PlaceId P : Escape.Places)
        for (const FieldDecl *Member : membersOf(Entry->places(), P))
          Uses.insert(Member);
      addUse(*Entry, Escape.Given);
    }
    for (const GraphUseEvent &Use : Entry->events<GraphUseEvent>())
      addUse(*Entry, Use.Root);
    for (const ForwardEvent &Forward : Entry->events<ForwardEvent>())
      addUse(*Entry, Forward.Input);
    for (const StoreEvent &Store : Entry->events<StoreEvent>()) {
      // What is kept elsewhere may be used for anything. What is added to the
      // member itself stays there.
      llvm::SmallVector<const FieldDecl *, 2> Into;
      bool Leaves = false;
      for (PlaceId P : Store.Places) {
        Into.append(membersOf(Entry->places(), P));
        Leaves |= Entry->isFromOutside(P);
      }
      for (const FieldDecl *Member : membersBehind(*Entry, Store.Stored))
        if (Leaves && !llvm::is_contained(Into, Member))
          Uses.insert(Member);
    }
  }
}

const Expr *MemberReads::discardOf(const PlaceTable &Places, PlaceId P) const {
  if (!IsRead)
    read();
  if (!User.isComplete() || !IsSure)
    return nullptr;
  for (const FieldDecl *Member : membersOf(Places, P)) {
    auto It = Discards.find(Member);
    if (It != Discards.end() && !Uses.count(Member) && isClosed(User, Member))
      return It->second;
  }
  return nullptr;
}

/// The bodies of all functions of the class that are not implicit are in this
/// file.
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

bool isClosed(const Program &User, const FieldDecl *Member) {
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

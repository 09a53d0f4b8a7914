#include "model/Place.h"
#include "torch/Types.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace torchtidy::model {

PlaceId PlaceTable::root(Root Kind, unsigned Frame, const void *Key) {
  if (Kind == Root::Global || Kind == Root::Outer)
    Frame = ~0u - static_cast<unsigned>(Kind) - 8;
  // This has no key of its own; distinct from every declaration.
  std::pair<const void *, unsigned> Id = {
      Kind == Root::This ? static_cast<const void *>(this) : Key, Frame};
  auto [It, Inserted] = Roots.try_emplace(Id, Places.size());
  if (Inserted)
    Places.push_back({It->second, Kind, Frame, Key, {}, 0, {}});
  return It->second;
}

PlaceId PlaceTable::child(PlaceId Parent, Step S) {
  for (PlaceId Child : Places[Parent].Children)
    if (Places[Child].S == S)
      return Child;
  if (Places[Parent].Depth >= MaxDepth)
    return Parent;
  PlaceId New = Places.size();
  Place P = {Parent, Places[Parent].Kind,      0, nullptr,
             S,      Places[Parent].Depth + 1, {}};
  Places.push_back(std::move(P));
  Places[Parent].Children.push_back(New);
  return New;
}

PlaceId PlaceTable::rootOf(PlaceId P) const {
  while (!isRoot(P))
    P = Places[P].Parent;
  return P;
}

bool PlaceTable::isWithin(PlaceId Inner, PlaceId Outer) const {
  while (true) {
    if (Inner == Outer)
      return true;
    if (isRoot(Inner))
      return false;
    Inner = Places[Inner].Parent;
  }
}

bool PlaceTable::hasStep(PlaceId P, Step::Kind Kind) const {
  for (; !isRoot(P); P = Places[P].Parent)
    if (Places[P].S.Of == Kind)
      return true;
  return false;
}

PlaceId PlaceTable::owner(PlaceId P) const {
  while (!isRoot(P) && (Places[P].S.Of == Step::Parameters ||
                        Places[P].S.Of == Step::Gradient))
    P = Places[P].Parent;
  return P;
}

QualType PlaceTable::typeOf(PlaceId P) const {
  const Place &Here = Places[P];
  if (isRoot(P)) {
    if (Here.Kind == Root::Local || Here.Kind == Root::Global ||
        Here.Kind == Root::Outer)
      return static_cast<const VarDecl *>(Here.Key)->getType();
    return QualType();
  }
  switch (Here.S.Of) {
  case Step::Field:
    return Here.S.Member->getType();
  case Step::Index: {
    auto Types = torch::tupleTypes(typeOf(Here.Parent));
    return Here.S.Number < Types.size() ? Types[Here.S.Number] : QualType();
  }
  case Step::Element:
    return torch::elementType(typeOf(Here.Parent));
  case Step::Parameters:
  case Step::Gradient:
    break;
  }
  return QualType();
}

std::string PlaceTable::name(PlaceId P) const {
  const Place &Here = Places[P];
  if (isRoot(P)) {
    if (Here.Kind == Root::Local || Here.Kind == Root::Global ||
        Here.Kind == Root::Outer)
      return static_cast<const VarDecl *>(Here.Key)->getNameAsString();
    return "";
  }
  std::string Parent = name(Here.Parent);
  if (Here.S.Of != Step::Field)
    return Parent;
  std::string Own = Here.S.Member->getNameAsString();
  return Parent.empty() ? Own : Parent + "." + Own;
}

bool insert(PlaceSet &Set, PlaceId P) {
  auto It = llvm::lower_bound(Set, P);
  if (It != Set.end() && *It == P)
    return false;
  Set.insert(It, P);
  return true;
}

bool insert(PlaceSet &Set, llvm::ArrayRef<PlaceId> Places) {
  bool Changed = false;
  for (PlaceId P : Places)
    Changed |= insert(Set, P);
  return Changed;
}

} // namespace torchtidy::model

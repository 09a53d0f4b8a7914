#include "model/base/Place.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

PlaceId PlaceTable::root(Root Kind, unsigned Frame, RootKey Key) {
  assert((Kind == Root::This || Kind == Root::Receiver ||
          Kind == Root::Background) == Key.isNull() &&
         "all roots but these have a key");
  const bool IsOfFrame =
      Kind == Root::Local || Kind == Root::Object || Kind == Root::Receiver;
  if (!IsOfFrame)
    Frame = NoFrame;
  auto [It, Inserted] = Roots.try_emplace(
      {Key.getOpaqueValue(), {static_cast<unsigned>(Kind), Frame}},
      PlaceId(Places.size()));
  if (Inserted)
    Places.push_back({It->second, Kind, Frame, Key, {}, 0, {}});
  return It->second;
}

PlaceId PlaceTable::child(PlaceId Parent, Step S) {
  const Place &Around = at(Parent);
  for (PlaceId Child : Around.Children)
    if (at(Child).S == S)
      return Child;
  if (Around.Depth >= MaxDepth)
    return Parent;
  const PlaceId New(Places.size());
  Places.push_back(
      {Parent, Around.Kind, 0, RootKey(), S, Around.Depth + 1, {}});
  Places[Parent.number()].Children.push_back(New);
  return New;
}

PlaceId PlaceTable::rootOf(PlaceId P) const {
  while (!isRoot(P))
    P = at(P).Parent;
  return P;
}

bool PlaceTable::isWithin(PlaceId Inner, PlaceId Outer) const {
  while (true) {
    if (Inner == Outer)
      return true;
    if (isRoot(Inner))
      return false;
    Inner = at(Inner).Parent;
  }
}

bool PlaceTable::hasStep(PlaceId P, Step::Kind Kind) const {
  for (; !isRoot(P); P = at(P).Parent)
    if (at(P).S.Of == Kind)
      return true;
  return false;
}

PlaceId PlaceTable::owner(PlaceId P) const {
  while (!isRoot(P) &&
         (at(P).S.Of == Step::Parameters || at(P).S.Of == Step::Gradient))
    P = at(P).Parent;
  return P;
}

PlaceId PlaceTable::toldApart(PlaceId P) const {
  PlaceId Result = P;
  for (; !isRoot(P); P = at(P).Parent)
    if (at(P).S.Of == Step::Part)
      Result = at(P).Parent;
  return Result;
}

QualType PlaceTable::typeOf(PlaceId P) const {
  const Place &Here = at(P);
  if (isRoot(P)) {
    if (Here.Kind == Root::Local || Here.Kind == Root::Global ||
        Here.Kind == Root::Outer)
      return cast<const VarDecl *>(Here.Key)->getType();
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
  case Step::Part:
    break;
  }
  return QualType();
}

QualType PlaceTable::objectType(PlaceId P) const {
  const auto *Maker = isRoot(P) && at(P).Kind == Root::Object
                          ? llvm::dyn_cast_if_present<const Expr *>(at(P).Key)
                          : nullptr;
  if (!Maker)
    return QualType();
  if (const auto *New = dyn_cast<CXXNewExpr>(Maker))
    return New->getAllocatedType();
  // make_unique<T>() makes a T, whatever it returns.
  const auto *Call = dyn_cast<CallExpr>(Maker);
  if (Call && torch::makesObject(Call->getDirectCallee()))
    return torch::pointee(Call->getType());
  // So does module->clone().
  if (const QualType Copy = Call ? torch::pointee(Call->getType()) : QualType();
      !Copy.isNull() && torch::isModule(Copy) &&
      torch::isClone(Call->getDirectCallee()))
    return Copy;
  return Maker->getType();
}

std::string PlaceTable::name(PlaceId P) const {
  const Place &Here = at(P);
  if (isRoot(P)) {
    if (Here.Kind == Root::Local || Here.Kind == Root::Global ||
        Here.Kind == Root::Outer)
      return cast<const VarDecl *>(Here.Key)->getNameAsString();
    return "";
  }
  std::string Parent = name(Here.Parent);
  if (Here.S.Of != Step::Field)
    return Parent;
  std::string Own = Here.S.Member->getNameAsString();
  return Parent.empty() ? Own : Parent + "." + Own;
}

} // namespace torchtidy::model

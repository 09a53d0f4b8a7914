#include "Calls.h"

#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

/// As written, without the conversions that the call makes of it.
const Expr *written(const Expr *E) { return E->IgnoreUnlessSpelledInSource(); }

bool isNamed(QualType Type, llvm::StringRef Name) {
  Type = Type.getNonReferenceType();
  const TagDecl *Tag = Type->getAsTagDecl();
  return Tag && Tag->getQualifiedNameAsString() == Name;
}

bool isCpu(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(written(E));
  if (Ref && Ref->getDecl()->getIdentifier())
    return Ref->getDecl()->getName() == "kCPU" ||
           Ref->getDecl()->getName() == "CPU";
  const auto *Make = dyn_cast<CXXConstructExpr>(written(E));
  return Make && Make->getNumArgs() >= 1 && isCpu(Make->getArg(0));
}

} // namespace

const FunctionDecl *factory(const Expr *E) {
  // Not the random ones: made in the loop or on another device, their tensors
  // are others, which is another program and not this mistake.
  static const llvm::StringSet<> Names = {
      "zeros",     "ones",      "empty",      "full",      "eye",
      "arange",    "linspace",  "zeros_like", "ones_like", "empty_like",
      "full_like", "new_zeros", "new_ones",   "new_empty", "new_full"};
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && Callee->getIdentifier() &&
                 Names.contains(Callee->getName()) &&
                 isTensor(Callee->getReturnType())
             ? Callee
             : nullptr;
}

const Expr *deviceOf(const Expr *Argument) {
  const Expr *E = written(Argument);
  bool IsDevice = isNamed(E->getType(), "c10::Device") ||
                  isNamed(E->getType(), "c10::DeviceType");
  return IsDevice && !isCpu(E) ? E : nullptr;
}

const Expr *typeOf(const Expr *Argument) {
  const Expr *E = written(Argument);
  return isNamed(E->getType(), "c10::ScalarType") ||
                 isNamed(E->getType(), "caffe2::TypeMeta")
             ? E
             : nullptr;
}

unsigned writtenArguments(const CallExpr *Call) {
  unsigned Count = 0;
  for (const Expr *Each : Call->arguments())
    Count += !isa<CXXDefaultArgExpr>(Each);
  return Count;
}

std::optional<Edit> withoutArgument(const Program &Whole, const CallExpr *Call,
                                    unsigned Index) {
  auto Own = Whole.piece(Call->getArg(Index)->getSourceRange());
  if (!Own)
    return std::nullopt;
  bool First = Index == 0, Only = First && writtenArguments(Call) == 1;
  if (Only)
    return Edit{*Own, ""};
  auto Beside =
      Whole.piece(Call->getArg(First ? 1 : Index - 1)->getSourceRange());
  if (!Beside || Beside->File != Own->File)
    return std::nullopt;
  if (First)
    return Edit{{Own->File, Own->Offset, Beside->Offset - Own->Offset}, ""};
  return Edit{{Own->File, Beside->end(), Own->end() - Beside->end()}, ""};
}

std::optional<Edit> withoutCall(const Program &Whole,
                                const CXXMemberCallExpr *Call) {
  auto Object =
      Whole.piece(Call->getImplicitObjectArgument()->getSourceRange());
  auto All = Whole.piece(Call->getSourceRange());
  if (!Object || !All || Object->Offset != All->Offset)
    return std::nullopt;
  return Edit{{All->File, Object->end(), All->end() - Object->end()}, ""};
}

std::optional<Edit> behind(const Program &Whole, const Expr *E,
                           std::string Text) {
  auto Where = Whole.piece(E->getSourceRange());
  if (!Where)
    return std::nullopt;
  return Edit{{Where->File, Where->end(), 0}, std::move(Text)};
}

bool isOfTensor(const CXXMemberCallExpr *Call) {
  const Expr *Object = Call ? Call->getImplicitObjectArgument() : nullptr;
  return Object && isTensor(Object->IgnoreParenImpCasts()->getType());
}

Transfer transferOf(const Stmt *S) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  if (!Call || !isTensor(Call->getObjectType()))
    return {};
  if (methodName(Call) == "cuda")
    return {Call};
  if (methodName(Call) != "to")
    return {};
  Transfer Result;
  for (unsigned I = 0, E = writtenArguments(Call); I < E; ++I) {
    if (const Expr *Device = deviceOf(Call->getArg(I)))
      Result = {Call, Device, I, Result.Type};
    else if (const Expr *Type = typeOf(Call->getArg(I)))
      Result.Type = Type;
  }
  return Result.Call ? Result : Transfer();
}

bool movesModules(const Program &Whole) {
  bool Found = false;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (methodName(Call) == "to" && isModule(Call->getObjectType()))
        for (const Expr *Each : Call->arguments())
          Found |= !isa<CXXDefaultArgExpr>(Each) && deviceOf(Each);
    });
  return Found;
}

bool isMadeOnce(const Function &In, const Stmt *S) {
  return isa<CXXConstructorDecl>(In.Decl) ||
         (In.Decl->isMain() && In.loops(S).empty() &&
          !In.enclosing<LambdaExpr>(S));
}

bool isBesideTraining(const Function &In, const Stmt *S) {
  const std::vector<const Stmt *> Around = In.loops(S);
  const Stmt *Whole = Around.empty() ? In.body() : Around.front();
  bool Found = false;
  forEach(Whole, [&](const Stmt *Inner) {
    if (Inner == Whole ||
        !isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(Inner))
      return;
    forEach(Inner, [&](const Stmt *Part) {
      const auto *Call = dyn_cast<CXXMemberCallExpr>(Part);
      Found |= Call &&
               (methodName(Call) == "backward" || methodName(Call) == "step");
    });
  });
  return Found;
}

const Stmt *statementAround(const Function &In, const Stmt *S) {
  const Stmt *Up = S;
  while (In.parent(Up) && !isa<CompoundStmt>(In.parent(Up)))
    Up = In.parent(Up);
  return Up;
}

const VarDecl *declaredWith(const Function &In, const Expr *Value) {
  const Stmt *Up = In.parent(Value);
  while (isa_and_nonnull<Expr>(Up) && plain(cast<Expr>(Up)) == plain(Value))
    Up = In.parent(Up);
  const auto *Declaration = dyn_cast_or_null<DeclStmt>(Up);
  return Declaration && Declaration->isSingleDecl()
             ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
             : nullptr;
}

} // namespace torchtidy::mutation

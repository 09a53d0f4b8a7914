#include "queries/memory/ReboundTensor.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/Loops.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "torch/Api.h"
#include "torch/Arithmetic.h"
#include "torch/Autocast.h"
#include "torch/Shapes.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// x / s, x.clamp(0, 1): the operation in place keeps type and shape of x.
static bool keepsAll(const CallExpr *Call, const torch::Operation &Op,
                     bool IsFloating) {
  if (!torch::inPlaceOf(Op) || torch::returnsBool(Op) ||
      (!torch::isPointwise(Op) && !torch::isElementwise(Op)))
    return false;
  return torch::isOfOneTensor(Call) &&
         (IsFloating ||
          (torch::keepsAnyType(Op) &&
           llvm::none_of(ast::argumentsOf(Call), torch::isFloatingNumber)));
}

static bool isFloating(const Value &V) {
  const std::optional<llvm::StringRef> Scalar = V.Scalar.get();
  return V.OfType.get() == DType::Floating ||
         (Scalar && (*Scalar == DefaultScalar || torch::isFloat(*Scalar)));
}

namespace {

class RebindQuery {
public:
  RebindQuery(const Execution &Entry, const KeepEvent &Keep)
      : Entry(Entry), Keep(Keep) {}

  std::optional<ReboundTensor> run() {
    const auto Around = Entry.loopsAround(Keep.Point);
    if (Around.empty() || Keep.GradMode & (mode::On | mode::Inherited) ||
        !findOperation() || isPreparation(Entry, Keep.Point))
      return std::nullopt;
    const bool IsOwn = isa<FieldDecl>(Target)
                           ? isOnlyUsed() && isWrittenInPlace(*Around.back())
                           : isOnlyHolder();
    if (!IsOwn || isHeldByOthers())
      return std::nullopt;
    return ReboundTensor{&Entry, &Keep, Operation, Around.back()};
  }

private:
  bool findOperation() {
    const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(Keep.Site);
    if (!Assign || Assign->getOperator() != OO_Equal ||
        Keep.How == StoreKind::Append || Keep.Places.size() != 1 ||
        Entry.places().isSummary(Keep.Places.front()))
      return false;
    Target = namedHere(Assign->getArg(0));
    Operation = dyn_cast<CallExpr>(ast::strip(Assign->getArg(1)));
    const Expr *Operand = Operation ? ast::firstOperand(Operation) : nullptr;
    return Target && Operand && namedHere(Operand) == Target &&
           torch::classify(Operation).Op;
  }

  const torch::Operation &op() const { return *torch::classify(Operation).Op; }
  bool isSame(const PlaceSet &Places) const { return Places == Keep.Places; }

  /// What writes into it in every iteration of L, in place: then who holds it
  /// sees it change as it is.
  bool isWrittenInPlace(const Loop &L) const {
    for (const WriteEvent &Write : Entry.events<WriteEvent>()) {
      const auto *Call = dyn_cast_or_null<CallExpr>(Write.Site);
      const torch::Operation *Writes =
          Call ? torch::classify(Call).Op : nullptr;
      if (Writes && isSame(Write.Places) && !Write.IsPointer &&
          L.contains(Write.Point) &&
          reaches(Entry, Write.Point, Keep.Point, {}) &&
          isUnconditional(Entry, Write.Site, Write.In, L) &&
          isLarge(Write.Before) &&
          keepsAll(Operation, op(), isFloating(Write.Written)))
        return true;
    }
    return false;
  }

  static bool isLarge(const Value &V) {
    const std::optional<uint64_t> Elements = V.InShape.elements();
    return !Elements || *Elements >= FewestForMemory;
  }

  /// A local variable: all that it may be there an operation has made for it.
  bool isOnlyHolder() {
    const auto *V = dyn_cast<VarDecl>(Target);
    if (!V || V->hasGlobalStorage() || V->getType()->isReferenceType() ||
        !isLarge(Keep.Kept))
      return false;
    Nodes Bound;
    for (const UpdateEvent &Update : Entry.events<UpdateEvent>())
      if (isSame(Update.Places))
        Bound.insert(Update.Point);
    // The value that it is declared with, or that a caller gives.
    if (reaches(Entry, Entry.start(), Keep.Point, Bound) && !isMadeFor(*V))
      return false;
    for (const UpdateEvent &Update : Entry.events<UpdateEvent>())
      if (isSame(Update.Places) &&
          reaches(Entry, Update.Point, Keep.Point, Bound) && !isMadeBy(Update))
        return false;
    return !Memory.empty() && isKnownToAll(*V);
  }

  /// The assignment gives it a tensor that its operation has made.
  bool isMadeBy(const UpdateEvent &Update) {
    for (const KeepEvent &Made : Entry.events<KeepEvent>()) {
      if (Made.Site != Update.Site || Made.In != Update.In ||
          !isSame(Made.Places))
        continue;
      const bool IsFloat = isFloating(Made.Kept) ||
                           (Made.Operand && torch::makesFloating(Made.Operand));
      Memory.insert(Made.Kept.StorageFrom.begin(), Made.Kept.StorageFrom.end());
      return Made.Kept.Share == share::Whole &&
             // What it makes itself is of the type that it was of before.
             (Made.Site == Keep.Site || keepsAll(Operation, op(), IsFloat));
    }
    return false;
  }

  /// Tensor x = torch::zeros(..): a factory whose tensor nobody else has.
  bool isMadeFor(const VarDecl &V) {
    const Expr *Init = V.getInit() ? ast::stripCopies(V.getInit()) : nullptr;
    for (const AllocateEvent &Made : Entry.events<AllocateEvent>())
      if (Init && Made.Site == Init &&
          keepsAll(Operation, op(), isFloating(Made.Result))) {
        Memory.insert(Made.Memory);
        return true;
      }
    return false;
  }

  /// Nothing copies the handle, captures the variable or binds a reference to
  /// it: it is an operand, an argument, or what is returned.
  bool isKnownToAll(const VarDecl &V) const {
    const auto *Owner = dyn_cast<FunctionDecl>(V.getDeclContext());
    return Owner &&
           Owner->getCanonicalDecl() == Keep.In->Function->getCanonicalDecl() &&
           isOnlyUsed();
  }

  /// The function of the assignment does so.
  bool isOnlyUsed() const {
    const flow::ControlFlow *Flow = Keep.In->Flow;
    return Flow && !ast::anyStmt(
                       Keep.In->Function->getBody(),
                       [&](const Stmt *S) {
                         if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
                           return llvm::any_of(
                               Lambda->captures(), [&](const auto &Each) {
                                 return Each.capturesVariable() &&
                                        Each.getCapturedVar() == Target;
                               });
                         return isa<DeclRefExpr, MemberExpr>(S) &&
                                namedHere(cast<Expr>(S)) == Target &&
                                !isPlainUse(*Flow, cast<Expr>(S));
                       },
                       ast::Lambdas::Skip);
  }

  /// What it returns may be the tensor itself, or a view of it.
  static bool mayReturnPart(const CallExpr *Call) {
    const torch::Operation *Op = torch::classify(Call).Op;
    return Op && (Op->View != torch::Tri::No || torch::mayReturnItself(*Op) ||
                  torch::isTransfer(*Op) ||
                  Op->Writes != torch::operation::NoArgument);
  }

  static bool isPlainUse(const flow::ControlFlow &Flow, const Expr *Use) {
    const Stmt *Child = Use;
    const Stmt *Parent = Flow.parent(Use);
    while (
        isa_and_nonnull<CastExpr, FullExpr, ParenExpr, MaterializeTemporaryExpr,
                        CXXBindTemporaryExpr, CXXConstructExpr, MemberExpr>(
            Parent)) {
      Child = Parent;
      Parent = Flow.parent(Parent);
    }
    // A view that nobody has any more, or what is returned in the end.
    if (Parent && !isa<Expr, DeclStmt, CXXForRangeStmt>(Parent))
      return true;
    const auto *Call = dyn_cast_or_null<CallExpr>(Parent);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee)
      return false;
    if (torch::isLibTorch(Callee))
      return !mayReturnPart(Call) || isPlainUse(Flow, Call);
    // The object of an operator stands before what its parameters are given.
    const unsigned First =
        isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(Callee) ? 1 : 0;
    for (unsigned I = First; I < Call->getNumArgs(); ++I)
      if (Call->getArg(I) == Child && I - First < Callee->getNumParams()) {
        const QualType Type = Callee->getParamDecl(I - First)->getType();
        return !Type->isReferenceType() ||
               Type.getNonReferenceType().isConstQualified();
      }
    return false;
  }

  bool hasMemory(const Value &V) const {
    return llvm::any_of(Memory,
                        [&](AllocationId Id) { return V.hasStorageFrom(Id); });
  }

  /// Another variable, an element or code that cannot be seen has it, or a view
  /// of it, when the assignment comes: not what is returned in the end. Of a
  /// member, whatever is told of it.
  bool isHeldByOthers() const {
    const auto ComesBefore = [&](const Event &Other) {
      return reaches(Entry, Other.Point, Keep.Point, {});
    };
    return llvm::any_of(Entry.events<KeepEvent>(),
                        [&](const KeepEvent &Other) {
                          return !isSame(Other.Places) &&
                                 hasMemory(Other.Kept) && ComesBefore(Other);
                        }) ||
           llvm::any_of(Entry.events<EscapeEvent>(),
                        [&](const EscapeEvent &Escape) {
                          return (hasMemory(Escape.Given) ||
                                  Entry.mayAlias(Keep.Places, Escape.Places)) &&
                                 ComesBefore(Escape);
                        });
  }

  const Execution &Entry;
  const KeepEvent &Keep;
  const ValueDecl *Target = nullptr;
  const CallExpr *Operation = nullptr;
  /// Who has made what is there before.
  llvm::DenseSet<AllocationId> Memory;
};

} // namespace

std::vector<ReboundTensor> reboundTensors(Program &Program) {
  std::vector<ReboundTensor> Result;
  llvm::DenseSet<const Expr *> Recorded;
  for (const auto &Entry : Program.executions())
    for (const KeepEvent &Keep : Entry->events<KeepEvent>())
      if (Keep.Kept.History != history::None)
        Recorded.insert(Keep.Site);
  for (const Execution *Entry : Program.executionsThatCost())
    for (const KeepEvent &Keep : Entry->events<KeepEvent>())
      if (!Recorded.count(Keep.Site))
        if (auto Found = RebindQuery(*Entry, Keep).run())
          Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model

// Mistakes about what goes to a device and comes back from it.
#include "Calls.h"
#include "Operators.h"
#include "Stores.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

bool isLoss(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !Callee->getIdentifier())
    return false;
  std::string Name = Callee->getQualifiedNameAsString();
  llvm::StringRef Own = Callee->getName();
  return (Name.rfind("at::", 0) == 0 || Name.rfind("torch::", 0) == 0) &&
         (Own.ends_with("_loss") || Own.contains("cross_entropy"));
}

bool isGiven(const Function &In, const CallExpr *Call, const Stmt *Value) {
  for (unsigned I = isa<CXXOperatorCallExpr>(Call) ? 1 : 0;
       I < Call->getNumArgs(); ++I)
    if (In.contains(Call->getArg(I), Value))
      return true;
  return false;
}

/// Whether a module or a loss is given what is computed from the value: in its
/// statement, by way of variables, or by the function that it is handed to.
bool reachesModule(const Program &Whole, const Function &In, const Expr *Value,
                   unsigned Depth = 0);

bool anyUseReaches(const Program &Whole, const ValueDecl *Place,
                   unsigned Depth) {
  return Place && Depth < 4 &&
         llvm::any_of(
             Whole.uses(Place),
             [&](const Use &Each) {
               return reachesModule(Whole, *Each.In, Each.Node, Depth + 1);
             });
}

bool parameterReaches(const Program &Whole, const Function &In,
                      const CallExpr *Call, const Stmt *Value, unsigned Depth) {
  const Function *Called = Whole.find(Call->getDirectCallee());
  if (!Called || isa<CXXOperatorCallExpr>(Call))
    return false;
  for (unsigned I = 0; I < Called->Decl->getNumParams(); ++I)
    if (I < Call->getNumArgs() && In.contains(Call->getArg(I), Value) &&
        anyUseReaches(Whole, Called->Decl->getParamDecl(I), Depth))
      return true;
  return false;
}

bool reachesModule(const Program &Whole, const Function &In, const Expr *Value,
                   unsigned Depth) {
  for (const Stmt *Up = In.parent(Value); Up; Up = In.parent(Up)) {
    if (isa<CompoundStmt, LambdaExpr>(Up))
      return false;
    if (const auto *Declaration = dyn_cast<DeclStmt>(Up))
      return Declaration->isSingleDecl() &&
             isa<VarDecl>(Declaration->getSingleDecl()) &&
             isTensor(cast<VarDecl>(Declaration->getSingleDecl())->getType()) &&
             anyUseReaches(Whole, cast<VarDecl>(Declaration->getSingleDecl()),
                           Depth);
    const auto *Call = dyn_cast<CallExpr>(Up);
    if (!Call)
      continue;
    if (isGiven(In, Call, Value) &&
        (isForward(Call) || isLoss(Call) ||
         parameterReaches(Whole, In, Call, Value, Depth)))
      return true;
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Operator && Operator->getOperator() == OO_Equal &&
        isGiven(In, Call, Value))
      return anyUseReaches(Whole, placeOf(Operator->getArg(0)), Depth);
  }
  return false;
}

/// `x.to(device)` -> `x`, `x.to(device, type)` -> `x.to(type)`,
/// `x = x.to(device);` -> nothing.
std::optional<Edit> withoutTransfer(const Program &Whole, const Function &In,
                                    const Transfer &Moved) {
  if (Moved.Type)
    return withoutArgument(Whole, Moved.Call, Moved.DeviceIndex);
  const Expr *Object = Moved.Call->getImplicitObjectArgument();
  auto Stored = storeOf(Whole, In, Moved.Call, false);
  if (Stored && Stored->How == Store::Assign && Stored->Target &&
      Whole.text(Stored->Target->getSourceRange()) ==
          Whole.text(Object->getSourceRange())) {
    const Stmt *Full = statementAround(In, Stored->By);
    if (isa<Expr>(Full))
      return Whole.removal(In, Full);
  }
  return withoutCall(Whole, Moved.Call);
}

/// The member that the value becomes, or null: others may give it to a module.
const FieldDecl *memberOf(const Function &In, const Expr *Value) {
  for (const Stmt *Up = In.parent(Value); Up; Up = In.parent(Up)) {
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Up);
    if (Operator && Operator->getOperator() == OO_Equal)
      return dyn_cast_or_null<FieldDecl>(placeOf(Operator->getArg(0)));
  }
  return nullptr;
}

/// The function, what it calls, and where else the member is used.
std::vector<Piece> usersOf(const Program &Whole, const Function &In,
                           const Expr *Value) {
  std::vector<Piece> Result = Whole.reach(In, In.body());
  if (const FieldDecl *Member = memberOf(In, Value))
    for (const Use &Each : Whole.uses(Member))
      for (const Piece &Where : Whole.reach(*Each.In, Each.In->body()))
        Result.push_back(Where);
  return Result;
}

void removeTransfer(const Program &Whole, const Function &In,
                    const Transfer &Moved, std::vector<Mutation> &Out) {
  auto Point = Whole.piece(Moved.Call->getSourceRange());
  if (!Point || !reachesModule(Whole, In, Moved.Call))
    return;
  if (auto Change = withoutTransfer(Whole, In, Moved))
    Out.push_back({"input-transfer",
                   {"torch-device-mismatch"},
                   *Point,
                   "stays on the CPU",
                   {*Change},
                   usersOf(Whole, In, Moved.Call)});
}

/// The method that is called of a value: `v.item()`.
const CXXMemberCallExpr *methodOf(const Function &In, const Expr *Value) {
  const Stmt *Up = In.parent(Value);
  while (isa_and_nonnull<ImplicitCastExpr, MaterializeTemporaryExpr,
                         CXXBindTemporaryExpr, ParenExpr>(Up))
    Up = In.parent(Up);
  const auto *Member = dyn_cast_or_null<MemberExpr>(Up);
  return Member ? dyn_cast_or_null<CXXMemberCallExpr>(In.parent(Member))
                : nullptr;
}

/// `x.to(device).to(type)` -> `x.to(type).to(device)`.
void convertFirst(const Program &Whole, const Transfer &Moved,
                  const Function &In, std::vector<Mutation> &Out) {
  const CXXMemberCallExpr *Next = methodOf(In, Moved.Call);
  if (!Next || Moved.Type || !isOfTensor(Next) ||
      (methodName(Next) != "to" && methodName(Next) != "toType") ||
      writtenArguments(Next) != 1 || !typeOf(Next->getArg(0)))
    return;
  auto First = withoutCall(Whole, Moved.Call),
       Second = withoutCall(Whole, Next);
  auto Point = Whole.piece(Next->getSourceRange());
  if (!First || !Second || !Point)
    return;
  std::string Convert = Whole.text(Second->Where);
  Second->Text = Whole.text(First->Where);
  First->Text = Convert;
  Out.push_back({"convert",
                 {"torch-convert-before-transfer"},
                 *Point,
                 "the wider type goes to the device",
                 {*First, *Second},
                 {*Point}});
}

/// Whether what the call gives is something that lies on a device.
bool isOnDevice(const VarDecl *Variable) {
  bool Found = false;
  if (Variable->getInit())
    forEach(Variable->getInit(),
            [&](const Stmt *S) { Found |= transferOf(S) || isForward(S); });
  return Found;
}

/// `x.size(0)` -> `x.cpu().size(0)`, of what a module gave or was moved.
void askCopy(const Program &Whole, const Function &In,
             const CXXMemberCallExpr *Call, std::vector<Mutation> &Out) {
  llvm::StringRef Name = methodName(Call);
  if ((Name != "size" && Name != "numel" && Name != "sizes") ||
      !isOfTensor(Call) || isMadeOnce(In, Call))
    return;
  const Expr *Object = Call->getImplicitObjectArgument();
  const auto *Variable = dyn_cast_or_null<VarDecl>(placeOf(Object));
  if (!Variable || !isa<DeclRefExpr>(plain(Object)) || !isOnDevice(Variable))
    return;
  auto Change = behind(Whole, Object, ".cpu()");
  auto Where = Whole.piece(Call->getSourceRange());
  if (Change && Where)
    Out.push_back({"metadata",
                   {"torch-transfer-for-metadata"},
                   *Where,
                   "copied to the host for its size",
                   {*Change},
                   {*Where}});
}

/// Whether the host reads a value there: `v.item()`, `v.accessor()`.
bool isRead(const Function &In, const Expr *Value) {
  const CXXMemberCallExpr *Call = methodOf(In, Value);
  llvm::StringRef Name = methodName(Call);
  return Name == "item" || Name == "accessor" || Name == "data_ptr" ||
         Name == "const_data_ptr" ||
         (Call && isTensor(Call->getType()) && isRead(In, Call));
}

/// `x.cpu()` and `x.to(torch::kCPU)` return before the copy is there.
void doNotWait(const Program &Whole, const Function &In,
               const CXXMemberCallExpr *Call, std::vector<Mutation> &Out) {
  llvm::StringRef Name = methodName(Call);
  if (!isOfTensor(Call) ||
      !(Name == "cpu" ||
        (Name == "to" && writtenArguments(Call) == 1 &&
         llvm::StringRef(Whole.text(Call->getArg(0)->getSourceRange()))
             .ends_with("kCPU"))))
    return;
  const VarDecl *Variable = declaredWith(In, Call);
  if (!isRead(In, Call) &&
      !(Variable && llvm::any_of(Whole.uses(Variable), [](const Use &Each) {
          return isRead(*Each.In, Each.Node);
        })))
    return;
  auto Change = withoutCall(Whole, Call);
  auto Where = Whole.piece(Call->getSourceRange());
  if (!Change || !Where)
    return;
  Change->Text = ".to(torch::kCPU, /*non_blocking=*/true)";
  Out.push_back({"non-blocking",
                 {"torch-unsynchronized-copy"},
                 *Where,
                 "the host reads the copy before it is there",
                 {*Change},
                 {*Where}});
}

} // namespace

void changeTransfers(const Program &Whole, std::vector<Mutation> &Out) {
  bool Moves = movesModules(Whole);
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      if (Transfer Moved = transferOf(S)) {
        convertFirst(Whole, Moved, In, Out);
        if (Moves)
          removeTransfer(Whole, In, Moved, Out);
      }
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (!Call || !Moves)
        return;
      askCopy(Whole, In, Call, Out);
      doNotWait(Whole, In, Call, Out);
    });
}

} // namespace torchtidy::mutation

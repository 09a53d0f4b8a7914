#include "transfer/DeviceMismatch.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/devices/DeviceBranches.h"
#include "queries/loops/LoopInvariance.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <map>
#include <set>

using namespace clang;

namespace torchtidy::model {

/// The body of what runs there is not seen, and known all the same: an
/// operation, a layer, a script module, or layers among others in a Sequential.
static bool isLast(const Execution &Entry, const MeetEvent &Meeting) {
  const auto *Call = cast<CallExpr>(Meeting.Site);
  if (!Entry.graph().expansions(Meeting.In, Call).empty())
    return Meeting.IsInLayer;
  if (Meeting.Modules.empty())
    return true;
  const Expr *Object = ast::objectOf(Call);
  const CXXRecordDecl *Class =
      Object ? torch::moduleClass(Object->getType()) : nullptr;
  return Class && torch::isLibTorch(Class);
}

/// Where a caller ran the module around with that tensor: the outermost.
static const MeetEvent *outermost(const Execution &Entry,
                                  const MeetEvent &Meeting) {
  const MeetEvent *Result = &Meeting;
  for (const Frame *F = Meeting.In; F && F->Caller; F = F->Caller)
    for (const MeetEvent &Outer : Entry.events<MeetEvent>())
      if (Outer.In == F->Caller && Outer.Site == F->Site &&
          !Outer.OnCpu == !Meeting.OnCpu)
        Result = &Outer;
  return Result;
}

/// The program may well choose another device than the CPU.
static bool mayChooseOther(const Execution &Entry, const Placement &Where,
                           const DeviceBranches &Branches) {
  if (Where.OnDevice.hasOther())
    return true;
  const std::optional<PlaceId> From = Where.DeviceFrom.get();
  if (!From)
    return false;
  // Of a member or a global only this file can tell.
  const Root Kind = Entry.places().rootKind(*From);
  return Kind == Root::Local || Branches.namesOtherDevice();
}

/// V is declared where Site can name it.
static bool isInScope(const VarDecl *V, const Stmt *Site, const Frame *In) {
  if (V->getDeclContext() != In->Function)
    return false;
  if (isa<ParmVarDecl>(V))
    return true;
  for (const Stmt *S = Site; S; S = In->Flow->parent(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      for (const Stmt *Each : Block->body()) {
        const auto *Declaration = dyn_cast<DeclStmt>(Each);
        if (Declaration && llvm::is_contained(Declaration->decls(), V))
          return Declaration->getBeginLoc() < Site->getBeginLoc();
      }
  return false;
}

/// The parameter of In that is given Device, itself or through callers.
static const ParmVarDecl *passedAs(const Frame *In, const ValueDecl *Device) {
  for (const ParmVarDecl *Parameter : In->Function->parameters()) {
    if (!torch::isDevice(Parameter->getType()))
      continue;
    const Frame *F = In;
    const ParmVarDecl *Of = Parameter;
    while (Of) {
      const Supergraph::Passed Given = Supergraph::passed(F, Of);
      const auto *Ref = dyn_cast_or_null<DeclRefExpr>(
          Given.Argument ? ast::stripCopies(Given.Argument) : nullptr);
      if (!Ref)
        break;
      if (Ref->getDecl() == Device)
        return Parameter;
      Of = dyn_cast<ParmVarDecl>(Ref->getDecl());
      F = Given.To->Caller;
    }
  }
  return nullptr;
}

/// A name for it that can be written at Site.
static const ValueDecl *nameable(const ValueDecl *Device, const Stmt *Site,
                                 const Frame *In) {
  if (const auto *V = dyn_cast_or_null<VarDecl>(Device))
    if (isInScope(V, Site, In))
      return V;
  if (const auto *Field = dyn_cast_or_null<FieldDecl>(Device)) {
    const auto *Method = dyn_cast<CXXMethodDecl>(In->Function);
    const auto *Class = cast<CXXRecordDecl>(Field->getParent());
    return Method && Method->getParent()->getCanonicalDecl() ==
                         Class->getCanonicalDecl()
               ? Field
               : nullptr;
  }
  return Device ? passedAs(In, Device) : nullptr;
}

/// Every mention of P in its function is of what cannot be changed: it is the
/// tensor that the caller has given, wherever it is read.
static bool staysAsGiven(const ParmVarDecl *P, const FunctionDecl *Function) {
  const QualType Type = P->getType();
  if (!torch::isTensor(Type) || Type->isPointerType())
    return false;
  if (Type.getNonReferenceType().isConstQualified())
    return true;
  unsigned Mentions = 0, Reads = 0;
  const auto Names = [&](const Stmt *S) {
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(S);
    return Ref && Ref->getDecl() == P;
  };
  ast::forEachStmt(
      Function->getBody(),
      [&](const Stmt *S) {
        Mentions += Names(S);
        const auto *Cast = dyn_cast<ImplicitCastExpr>(S);
        Reads += Cast && Cast->getType().isConstQualified() &&
                 Names(Cast->getSubExpr()->IgnoreParens());
      },
      ast::Lambdas::Enter);
  return Mentions == Reads;
}

static void speakAtMeeting(DeviceMismatch &Found) {
  Found.Tensor = Found.Meeting->OnCpu;
  Found.Site = cast<CallExpr>(Found.Meeting->Site);
  Found.In = Found.Meeting->In;
  if (Found.Device)
    Found.Nameable = nameable(Found.Device, Found.Site, Found.In);
}

/// What a caller gives for the tensor, where that is a parameter; through
/// callers that only hand it on, up to the first that can name the device.
static void followToCaller(DeviceMismatch &Found) {
  // A constant has a name everywhere.
  if (!Found.Device && Found.Meeting->OfElsewhere.OnDevice.get())
    return;
  while (!Found.Nameable && Found.Tensor) {
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::stripCopies(Found.Tensor));
    const auto *P = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
    if (!P || Supergraph::owner(Found.In, P) != Found.In ||
        !staysAsGiven(P, Found.In->Function))
      return;
    const Supergraph::Passed Given = Supergraph::passed(Found.In, P);
    const auto *Call =
        dyn_cast_or_null<CallExpr>(Given.To ? Given.To->Site : nullptr);
    if (!Given.Argument || !Call || isa<CXXDefaultArgExpr>(Given.Argument) ||
        !torch::isTensor(Given.Argument->getType()))
      return;
    Found.Tensor = Given.Argument;
    Found.Site = Call;
    Found.In = Given.To->Caller;
    Found.Nameable = nameable(Found.Device, Found.Site, Found.In);
  }
}

/// The innermost loop around the place, or null. One in a function that is
/// called from there is none of them.
static const flow::Loop *loopAround(const DeviceMismatch &Found) {
  const Frame *Callee = Found.Meeting->In;
  while (Callee != Found.In && Callee->Caller != Found.In)
    Callee = Callee->Caller;
  const auto Around = Found.Entry->loopsAround(Found.Meeting->Point);
  for (const flow::Loop *L : llvm::reverse(Around))
    if (Callee == Found.In || Found.Entry->beginsIn(Callee, *L))
      return L;
  return nullptr;
}

/// A variable that keeps its tensor in the innermost loop.
static bool isSameInLoop(const DeviceMismatch &Found) {
  const flow::Loop *Around = loopAround(Found);
  const Expr *Tensor = Found.Tensor ? ast::stripCopies(Found.Tensor) : nullptr;
  return Around && isa_and_nonnull<DeclRefExpr, MemberExpr>(Tensor) &&
         Invariance(*Found.Entry).isInvariant(Tensor, Found.In, *Around);
}

/// Both name the same variable, or the same member of one.
static bool isSameNamed(const Expr *A, const Expr *B) {
  A = ast::strip(A);
  B = ast::strip(B);
  if (!A || !B)
    return false;
  if (const auto *Member = dyn_cast<MemberExpr>(A)) {
    const auto *Other = dyn_cast<MemberExpr>(B);
    return Other && Member->getMemberDecl() == Other->getMemberDecl() &&
           (isSameNamed(Member->getBase(), Other->getBase()) ||
            (isa<CXXThisExpr>(ast::strip(Member->getBase())) &&
             isa<CXXThisExpr>(ast::strip(Other->getBase()))));
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(A);
  const auto *Other = dyn_cast<DeclRefExpr>(B);
  return Ref && Other && Ref->getDecl() == Other->getDecl();
}

/// What E was computed from, one step back: x of x.to(torch::kFloat), and of a
/// variable that is declared with that. Null where there is none.
static const Expr *stepBack(const Expr *E) {
  E = ast::stripCopies(E);
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (V && !isa<ParmVarDecl>(V) && V->getInit())
    E = ast::stripCopies(V->getInit());
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  return Call ? Call->getImplicitObjectArgument() : nullptr;
}

/// x.to(device); and its result is dropped: torch-discarded-result tells that,
/// and whoever keeps the result has x there.
static bool isMovedInVain(const Execution &Entry, const MeetEvent &Meeting) {
  const auto IsDropped = [&](const TransferEvent &Transfer,
                             const Expr *Tensor) {
    const auto *Call = dyn_cast<CallExpr>(Transfer.Site);
    const flow::ControlFlow *Flow = Transfer.In->Flow;
    return Transfer.MovesDevice && Transfer.In == Meeting.In && Call && Flow &&
           Flow->parent(Call) && Flow->isFullExpression(Call) &&
           isSameNamed(ast::objectOf(Call), Tensor) &&
           Entry.comesBefore(Transfer.Point, Meeting.Point);
  };
  const Expr *Tensor = Meeting.OnCpu;
  for (unsigned Steps = 0; Tensor && Steps < 6; ++Steps) {
    for (const TransferEvent &Transfer : Entry.events<TransferEvent>())
      if (IsDropped(Transfer, Tensor))
        return true;
    Tensor = stepBack(Tensor);
  }
  return false;
}

/// A function that several calls hand such a tensor to is the one place for all
/// of them.
static void goBackFromSeveral(std::vector<DeviceMismatch> &All) {
  std::map<const Expr *, std::set<const CallExpr *>> CallersOf;
  for (const DeviceMismatch &Each : All)
    CallersOf[Each.Meeting->Site].insert(Each.Site);
  for (DeviceMismatch &Each : All) {
    const MeetEvent &Meeting = *Each.Meeting;
    if (Each.Site == Meeting.Site || CallersOf[Meeting.Site].size() < 2)
      continue;
    speakAtMeeting(Each);
  }
}

/// A caller that hands on a variable again and again, or after what was told of
/// it, lacks one move. Where the place can be mended each is told, for each is.
static void joinSame(std::vector<DeviceMismatch> &All) {
  const auto VariableOf = [](const DeviceMismatch &Found) {
    const auto *Ref =
        Found.Tensor ? dyn_cast<DeclRefExpr>(ast::stripCopies(Found.Tensor))
                     : nullptr;
    return Ref ? Ref->getDecl() : nullptr;
  };
  for (size_t I = 0; I < All.size(); ++I) {
    DeviceMismatch &First = All[I];
    if (First.Nameable || !VariableOf(First))
      continue;
    for (size_t J = I + 1; J < All.size();) {
      const DeviceMismatch &Next = All[J];
      const bool IsSame = Next.Entry == First.Entry &&
                          Next.Site != Next.Meeting->Site &&
                          Next.In == First.In && !Next.Nameable &&
                          VariableOf(Next) == VariableOf(First);
      if (!IsSame) {
        ++J;
        continue;
      }
      First.Again.push_back(Next.Tensor);
      All.erase(All.begin() + J);
    }
  }
}

/// A caller's tensor that is told of already, where it is given away: what was
/// made of it on the way is where it is.
static void dropInner(std::vector<DeviceMismatch> &All) {
  std::set<std::pair<const Stmt *, bool>> Given;
  for (const DeviceMismatch &Each : All)
    Given.insert({Each.Site, Each.Tensor != nullptr});
  llvm::erase_if(All, [&](const DeviceMismatch &Each) {
    for (const Frame *F = Each.In; F && F->Caller; F = F->Caller)
      if (Given.count({F->Site, Each.Tensor != nullptr}))
        return true;
    return false;
  });
}

std::vector<DeviceMismatch> deviceMismatches(Program &Program) {
  std::vector<DeviceMismatch> Result;
  std::optional<DeviceBranches> Branches;
  for (const auto &Entry : Program.executions()) {
    std::set<const MeetEvent *> Known;
    for (const MeetEvent &Meeting : Entry->events<MeetEvent>()) {
      if (!isLast(*Entry, Meeting))
        continue;
      if (!Branches)
        Branches.emplace(Program.code());
      const Placement &Where = Meeting.OfElsewhere;
      const bool IsCertain =
          !Where.OnDevice.isOpen() && !Where.OnDevice.has(Device::CPU);
      if (!mayChooseOther(*Entry, Where, *Branches) ||
          (!IsCertain && Branches->decide(Meeting.Site, Meeting.In)))
        continue;
      const MeetEvent *Outer = outermost(*Entry, Meeting);
      if (!Known.insert(Outer).second || isMovedInVain(*Entry, *Outer))
        continue;
      DeviceMismatch Found;
      Found.Entry = Entry.get();
      Found.Meeting = Outer;
      if (const std::optional<PlaceId> From =
              Outer->OfElsewhere.DeviceFrom.get())
        Found.Device = Entry->places().declaration(*From);
      speakAtMeeting(Found);
      followToCaller(Found);
      Result.push_back(Found);
    }
  }
  dropInner(Result);
  goBackFromSeveral(Result);
  joinSame(Result);
  for (DeviceMismatch &Found : Result)
    Found.IsSameInLoop = isSameInLoop(Found);
  return Result;
}

} // namespace torchtidy::model

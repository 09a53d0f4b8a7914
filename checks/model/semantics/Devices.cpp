#include "model/semantics/Devices.h"
#include "model/domains/device/Transfer.h"
#include "torch/Devices.h"
#include "torch/Modules.h"

using namespace clang;

namespace torchtidy::model::devices {

namespace {

struct Operand {
  const Expr *E;
  Value Is;
};

} // namespace

/// The tensors that are written as Written: those of a list each by itself.
static void tensorsIn(Machine &M, const Expr *Written,
                      llvm::SmallVectorImpl<Operand> &Result) {
  if (!Written || isa<CXXDefaultArgExpr>(Written) ||
      Written->getType().isNull() || !torch::mayHoldTensor(Written->getType()))
    return;
  const Expr *E = ast::stripCopies(Written);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    E = ast::strip(List->getSubExpr());
  if (const auto *List = dyn_cast<InitListExpr>(E)) {
    for (const Expr *Init : List->inits())
      tensorsIn(M, Init, Result);
    return;
  }
  Result.push_back({Written, M.operandValue(Written)});
}

/// The first of these with parameters is LibTorch's, and so are those before
/// it, which leave what they are given where it is.
static bool beginsWithLayer(llvm::ArrayRef<const CXXRecordDecl *> Classes) {
  for (const CXXRecordDecl *Class : Classes) {
    if (!Class || !torch::isLibTorch(Class))
      return false;
    if (torch::parametersOf(Class) != torch::Parameters::None)
      return true;
  }
  return false;
}

/// One of the layers that a Sequential runs beside the user's modules is given
/// what is on the CPU, as Given is, or what the module before it has returned.
static bool meetsInLayer(Machine &M, const CallSite &Site, const Value &Given) {
  for (const Frame *Callee : M.graph().expansions(M.frame(), Site.Call)) {
    const ChainLink &Link = Callee->Link;
    if (!Link.Module)
      continue;
    const Value First =
        Link.Before ? M.deepLoad(M.returned(Link.Before)) : Given;
    if ((beginsWithLayer(Link.Unseen) && First.isOnCpu()) ||
        (beginsWithLayer(Link.Behind) &&
         M.deepLoad(M.returned(Callee)).isOnCpu()))
      return true;
  }
  return false;
}

static void emit(Machine &M, const Expr *Site, const Operand &OnCpu,
                 const Operand &Elsewhere, const PlaceSet &Modules,
                 bool IsInLayer = false) {
  M.emit<MeetEvent>(Site, [&](MeetEvent &E) {
    E.OnCpu = OnCpu.E;
    E.OfCpu = OnCpu.Is;
    E.Elsewhere = Elsewhere.E;
    E.OfElsewhere = Elsewhere.Is;
    E.Modules = Modules;
    E.IsInLayer = IsInLayer;
  });
}

void meet(Machine &M, const torch::Operation &Op, const CallExpr *Call,
          llvm::ArrayRef<const Expr *> Operands) {
  if (!M.isRecording() || !torch::needsOneDevice(Op))
    return;
  llvm::SmallVector<Operand, 4> Tensors;
  for (const Expr *Each : Operands)
    tensorsIn(M, Each, Tensors);
  const auto *Elsewhere = llvm::find_if(
      Tensors, [](const Operand &Each) { return Each.Is.mayBeElsewhere(); });
  if (Elsewhere == Tensors.end())
    return;
  const bool TakesNumber = torch::takesHostNumber(Op);
  for (const Operand &Each : Tensors)
    if (Each.Is.isOnCpu() && (!TakesNumber || Each.Is.Rank == rank::Some))
      emit(M, Call, Each, *Elsewhere, {});
}

void meetModule(Machine &M, const CallSite &Site, const PlaceSet &Modules,
                const Placement &Where) {
  if (!M.isRecording() || Modules.empty())
    return;
  Operand Module{nullptr, Value()};
  Module.Is.setDevice(Where);
  llvm::SmallVector<Operand, 4> Tensors;
  for (const Expr *Argument : Site.Arguments)
    tensorsIn(M, Argument, Tensors);
  // A script may take some of its inputs on the CPU: lengths.
  if (Site.objectKind() == torch::TypeKind::ScriptModule &&
      !llvm::all_of(Tensors,
                    [](const Operand &Each) { return Each.Is.isOnCpu(); }))
    return;
  for (const Operand &Each : Tensors)
    if (Where.mayBeElsewhere() && Each.Is.isOnCpu())
      emit(M, Site.Call, Each, Module, Modules, meetsInLayer(M, Site, Each.Is));
    else if (Where.isOnCpu() && Each.Is.mayBeElsewhere())
      emit(M, Site.Call, Module, Each, Modules);
}

void meetInLoss(Machine &M, const CallSite &Site) {
  const CXXRecordDecl *Class =
      Site.Object ? torch::moduleClass(Site.Object->getType()) : nullptr;
  if (Class && torch::isLossOfOneDevice(Class))
    meet(M, torch::anyLoss(), Site.Call, Site.Arguments);
}

void moveModule(Machine &M, const CallSite &Site) {
  if (torch::replacesParameters(Site.callee()))
    return device::lose(M, Site.self(M));
  if (!torch::movesParameters(Site.callee()))
    return;
  Placement To;
  for (const Expr *Argument : Site.Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      To.joinDevice(M.deepValue(Argument));
  if (To.saysDevice())
    device::move(M, Site.self(M), To);
}

void replaceData(Machine &M, const Expr *Target) {
  for (PlaceId P : M.identity(Target)) {
    device::loseLayerOf(M, P);
    if (M.places().hasStep(P, Step::Parameters))
      device::lose(M, {M.places().owner(P)});
    else if (!M.places().isSummary(P))
      M.state().Places[P].setDevice(Placement::unknown());
  }
}

} // namespace torchtidy::model::devices

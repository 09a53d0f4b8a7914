// Where the batches of a data loader are: on the CPU, as long as neither a data
// set nor a transform of the user's says otherwise.
#include "ast/Walk.h"
#include "model/domains/device/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Data.h"
#include "torch/Operations.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include <functional>
#include <set>

using namespace clang;

namespace torchtidy::model::device {

namespace {

/// Follows what a class of the user's runs, through the functions of the file.
class HostOnly {
public:
  explicit HostOnly(Code &User) : User(User) {}

  /// All that the class computes is on the CPU.
  bool holds(const CXXRecordDecl *Class) {
    Class = Class ? Class->getDefinition() : nullptr;
    if (!Class)
      return false;
    for (const FieldDecl *Field : Class->fields())
      if (torch::saysWhere(Field->getType()) ||
          torch::isModule(Field->getType()))
        return false;
    for (const CXXMethodDecl *Method : Class->methods()) {
      if (Method->isImplicit() || Method->isDefaulted() ||
          Method->isDeleted() || Method->isPureVirtual())
        continue;
      // What it is given may be anywhere.
      if (isa<CXXConstructorDecl>(Method) &&
          llvm::any_of(Method->parameters(), [](const ParmVarDecl *P) {
            return torch::mayHoldTensor(P->getType());
          }))
        return false;
      if (!holdsFor(Method))
        return false;
    }
    return llvm::all_of(Class->bases(), [&](const CXXBaseSpecifier &Base) {
      const CXXRecordDecl *Of = Base.getType()->getAsCXXRecordDecl();
      return !Of || torch::isLibTorch(Of) || torch::isStd(Of) || holds(Of);
    });
  }
  /// Some of it may be in pinned memory.
  bool mayPin() const { return Pins; }

private:
  bool holdsFor(const FunctionDecl *F) {
    const FunctionDecl *Definition = User.functions().definition(F);
    if (!Definition)
      return false;
    if (!Seen.insert(Definition).second)
      return true;
    if (ast::anyStmt(Definition->getBody(), leads(), ast::Lambdas::Enter))
      return false;
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Definition))
      for (const CXXCtorInitializer *Init : Constructor->inits())
        if (ast::anyStmt(Init->getInit(), leads(), ast::Lambdas::Enter))
          return false;
    return true;
  }

  std::function<bool(const Stmt *)> leads() {
    return [this](const Stmt *S) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        return leadsElsewhere(Call);
      const auto *Ref = dyn_cast<DeclRefExpr>(S);
      if (!Ref)
        return false;
      // A global tensor; a device.
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      return torch::deviceOf(Ref->getDecl()).has_value() ||
             torch::isDevice(Ref->getType()) ||
             (V && V->hasGlobalStorage() && torch::mayHoldTensor(V->getType()));
    };
  }

  /// memcpy(), malloc(): the library of C knows no tensors, whatever pointer
  /// to void it returns.
  bool isOfC(const FunctionDecl *F) const {
    return F && F->isExternC() &&
           User.context().getSourceManager().isInSystemHeader(F->getLocation());
  }

  bool leadsElsewhere(const CallExpr *Call) {
    const torch::Call Kind = torch::classify(Call);
    const FunctionDecl *Callee = Call->getDirectCallee();
    Pins |= (Kind.Op && torch::pinsMemory(*Kind.Op)) ||
            (Callee && torch::saysPinnedMemory(Callee));
    if (Kind.Op && torch::transferOf(*Kind.Op) == torch::Transfer::Cuda)
      return true;
    // A network, or a file, may have its tensors anywhere.
    if (Kind.Kind == torch::Api::ModuleForward || Kind.Kind == torch::Api::Load)
      return true;
    return Kind.Kind == torch::Api::Foreign &&
           torch::mayHoldTensor(Call->getType()) && !isOfC(Callee) &&
           (!Call->getDirectCallee() || !holdsFor(Call->getDirectCallee()));
  }

  Code &User;
  bool Pins = false;
  std::set<const FunctionDecl *> Seen;
};

} // namespace

/// Everything that the loader's data goes through stays on the CPU.
static bool isOnHost(Machine &M, QualType Dataset, bool &MayPin) {
  const CXXRecordDecl *Class = torch::recordOf(Dataset);
  if (!Class)
    return false;
  if (!torch::isLibTorch(Class)) {
    HostOnly Users(M.code());
    const bool Holds = Users.holds(Class);
    MayPin |= Users.mayPin();
    return Holds;
  }
  switch (torch::dataOrigin(Class)) {
  case torch::DataOrigin::Host:
    return true;
  case torch::DataOrigin::Unknown:
    return false;
  case torch::DataOrigin::Parts:
    break;
  }
  const auto *Template = dyn_cast<ClassTemplateSpecializationDecl>(Class);
  if (!Template)
    return false;
  const auto &Arguments = Template->getTemplateArgs();
  for (unsigned I = 0; I < Arguments.size() && I < 2; ++I)
    if (Arguments[I].getKind() == TemplateArgument::Type &&
        torch::recordOf(Arguments[I].getAsType()) &&
        !isOnHost(M, Arguments[I].getAsType(), MayPin))
      return false;
  return true;
}

void placeBatches(Machine &M, const FunctionDecl *Begin,
                  const PlaceSet &Batches) {
  const QualType Dataset = torch::datasetOf(Begin);
  if (Dataset.isNull())
    return;
  Value Batch = Value::withHistory(history::None);
  bool MayPin = false;
  Batch.setDevice(isOnHost(M, Dataset, MayPin) ? Placement::on(Device::CPU)
                                               : Placement::unknown());
  Batch.Rank = Batch.isOnCpu() ? rank::Some : rank::Unknown;
  Batch.Host =
      Batch.isOnCpu() && !MayPin ? hostmemory::Pageable : hostmemory::Unknown;
  for (PlaceId P : Batches)
    M.state().Places[P] = Batch;
}

} // namespace torchtidy::model::device

// Execution::print(): for people who look for what the model has seen.
#include "model/execution/Execution.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace torchtidy::model {

/// Prints the parts of events, each after its name.
namespace {

class EventPrinter {
public:
  EventPrinter(const Execution &Entry, llvm::raw_ostream &Out)
      : Entry(Entry), Places(Entry.places()), Out(Out) {}

  void print(const Event &E) {
    const SourceManager &SM = Entry.code().context().getSourceManager();
    Out << "  " << E.Point << ' ' << Event::name(E.Is) << " frame " << E.In->Id;
    if (E.Site)
      Out << " line " << SM.getExpansionLineNumber(E.Site->getBeginLoc());
    printParts(E);
    Out << " grad-mode " << unsigned(E.GradMode) << " loops "
        << Entry.loopsAround(E.Point).size() << '\n';
  }

private:
  void part(llvm::StringRef Name, PlaceId P) {
    const std::string Text = Places.name(P);
    Out << ' ' << Name << ' ' << P << (Text.empty() ? "" : ":") << Text;
  }
  void part(llvm::StringRef Name, const PlaceSet &Set) {
    Out << ' ' << Name << " {";
    llvm::ListSeparator Comma;
    for (PlaceId P : Set) {
      const std::string Text = Places.name(P);
      Out << Comma << P << (Text.empty() ? "" : ":") << Text;
    }
    Out << '}';
  }
  template <class Tag>
  void part(llvm::StringRef Name, const llvm::SmallVectorImpl<Id<Tag>> &Set) {
    if (Set.empty())
      return;
    Out << ' ' << Name;
    for (Id<Tag> I : Set)
      Out << ' ' << I;
  }
  template <class Tag> void part(llvm::StringRef Name, Id<Tag> I) {
    Out << ' ' << Name << ' ' << I;
  }
  void part(llvm::StringRef Name, const Value &V) {
    Out << ' ' << Name << ": history " << unsigned(V.History);
    if (!V.Refs.empty())
      part("refs", V.Refs);
    part("origins", V.Origins);
    Out << (V.ManyOrigins ? " many" : "");
    part("decided by", V.DecidedBy);
    part("memory", V.Memory);
    if (V.Share)
      Out << " share " << unsigned(V.Share);
    part("storage from", V.StorageFrom);
    part("saved by", V.SavedBy);
    part("needs", V.Needs);
    part("spoiled", V.Spoiled);
    part(V.placement());
    part("host copies", V.HostCopies);
  }
  void part(const Placement &Where) {
    if (!Where.saysDevice())
      return;
    Out << " on";
    for (auto [D, Name] :
         {std::pair(Device::CPU, " cpu"), std::pair(Device::CUDA, " cuda"),
          std::pair(Device::Other, " other")})
      Out << (Where.OnDevice.has(D) ? Name : "");
    Out << (Where.OnDevice.isOpen() ? " any" : "");
    if (const std::optional<PlaceId> From = Where.DeviceFrom.get())
      part("from", *From);
  }

  void printParts(const Event &E) {
    if (const auto *Use = E.getAs<GraphUseEvent>())
      part("root", Use->Root);
    if (const auto *Update = E.getAs<UpdateEvent>())
      part("places", Update->Places);
    switch (E.Is) {
    case Event::Forward: {
      const auto &Forward = cast<ForwardEvent>(E);
      part("modules", Forward.Modules);
      part("parts", Forward.Parts);
      part("input", Forward.Input);
      part("result", Forward.Result);
      part("origin", Forward.Origin);
      break;
    }
    case Event::Backward:
      part("origin", cast<BackwardEvent>(E).Origin);
      break;
    case Event::Store:
      part("stored", cast<StoreEvent>(E).Stored);
      part("origin", cast<StoreEvent>(E).Origin);
      break;
    case Event::Step:
      part("optimizers", cast<StepEvent>(E).Optimizers);
      part("trained", cast<StepEvent>(E).Trained);
      break;
    case Event::ZeroGrad:
      part("cleared", cast<ZeroGradEvent>(E).Cleared);
      part("trained", cast<ZeroGradEvent>(E).Trained);
      break;
    case Event::ModeChange:
      part("modules", cast<ModeChangeEvent>(E).Modules);
      Out << " mode " << unsigned(cast<ModeChangeEvent>(E).Mode);
      break;
    case Event::GradModeChange: {
      const auto &Change = cast<GradModeChangeEvent>(E);
      if (Change.Guard)
        part("guard", *Change.Guard);
      Out << " to " << unsigned(Change.Mode);
      break;
    }
    case Event::Chain:
      part("operand", cast<ChainEvent>(E).OfOperand);
      part("result", cast<ChainEvent>(E).Result);
      break;
    case Event::Autocast:
      Out << " how " << unsigned(cast<AutocastEvent>(E).How);
      break;
    case Event::Cast:
      part("weights", cast<CastEvent>(E).Weights);
      break;
    case Event::HalfUse:
      Out << " how " << unsigned(cast<HalfUseEvent>(E).How);
      part("half", cast<HalfUseEvent>(E).OfHalf);
      break;
    case Event::Load:
      part("loaded", cast<LoadEvent>(E).Loaded);
      break;
    case Event::Create:
      part("objects", cast<CreateEvent>(E).Objects);
      break;
    case Event::Escape:
      part("places", cast<EscapeEvent>(E).Places);
      part("given", cast<EscapeEvent>(E).Given);
      break;
    case Event::Allocate: {
      const auto &Allocate = cast<AllocateEvent>(E);
      part("result", Allocate.Result);
      part("allocation", Allocate.Memory);
      part("holders", Allocate.Holders);
      part("savers", Allocate.Savers);
      break;
    }
    case Event::Transfer: {
      const auto &Transfer = cast<TransferEvent>(E);
      part("source", Transfer.Source);
      part("input", Transfer.Input);
      part("result", Transfer.Result);
      part("allocation", Transfer.Memory);
      break;
    }
    case Event::Meet:
      part("on the cpu", cast<MeetEvent>(E).OfCpu);
      part("elsewhere", cast<MeetEvent>(E).OfElsewhere);
      part("modules", cast<MeetEvent>(E).Modules);
      break;
    case Event::Write:
      part("places", cast<WriteEvent>(E).Places);
      part("before", cast<WriteEvent>(E).Before);
      part("written", cast<WriteEvent>(E).Written);
      break;
    case Event::Rearrange:
      part("source", cast<RearrangeEvent>(E).Source);
      part("input", cast<RearrangeEvent>(E).Input);
      break;
    case Event::Mix:
      part("operand", cast<MixEvent>(E).OfOperand);
      break;
    case Event::ScaleUse:
      part("operand", cast<ScaleUseEvent>(E).OfOperand);
      break;
    case Event::Discard:
      part("left", cast<DiscardEvent>(E).Left);
      break;
    case Event::AddParameters:
      part("optimizers", cast<AddParametersEvent>(E).Optimizers);
      part("given", cast<AddParametersEvent>(E).Given);
      break;
    case Event::Register:
      part("modules", cast<RegisterEvent>(E).Modules);
      part("places", cast<RegisterEvent>(E).Places);
      part("before", cast<RegisterEvent>(E).Before);
      break;
    case Event::Replace:
      part("member", cast<ReplaceEvent>(E).Member);
      part("before", cast<ReplaceEvent>(E).Before);
      part("after", cast<ReplaceEvent>(E).After);
      break;
    case Event::Borrow:
      part("result", cast<BorrowEvent>(E).Result);
      break;
    case Event::End:
      part("owner", cast<EndEvent>(E).Owner);
      part("loans", cast<EndEvent>(E).Loans);
      break;
    case Event::Touch:
      part("dangling", cast<TouchEvent>(E).Dangling);
      break;
    case Event::Hold:
      part("holder", cast<HoldEvent>(E).Holder);
      part("dangling", cast<HoldEvent>(E).Dangling);
      break;
    case Event::Fill:
      part("containers", cast<FillEvent>(E).Containers);
      part("shared", cast<FillEvent>(E).Shared);
      break;
    case Event::ReadGradient:
      part("of", cast<ReadGradientEvent>(E).Of);
      break;
    case Event::Hook:
      part("on", cast<HookEvent>(E).On);
      if (cast<HookEvent>(E).IsRemoved)
        Out << " removed";
      break;
    case Event::Compare:
      part("left", cast<CompareEvent>(E).Left);
      part("right", cast<CompareEvent>(E).Right);
      break;
    case Event::ReadUnwaited:
      part("memory", cast<ReadUnwaitedEvent>(E).Memory);
      break;
    case Event::HostRead:
      part("copies", cast<HostReadEvent>(E).Copies);
      break;
    case Event::Wait:
      part("of", cast<WaitEvent>(E).Of);
      break;
    case Event::Compute:
      part("result", cast<ComputeEvent>(E).Result);
      break;
    case Event::Keep:
      part("places", cast<KeepEvent>(E).Places);
      part("kept", cast<KeepEvent>(E).Kept);
      break;
    case Event::Grad:
    case Event::Inspect:
    case Event::Release:
    case Event::Combine:
    case Event::DefaultDType:
    case Event::Opaque:
      break;
    }
  }

  const Execution &Entry;
  const PlaceTable &Places;
  llvm::raw_ostream &Out;
};

} // namespace

void Execution::print(llvm::raw_ostream &Out) const {
  Out << "execution of " << root().Function->getNameAsString() << ", "
      << Graph.graph().size() << " segments, " << Graph.frames().size()
      << " frames, " << Places.size() << " places"
      << (Complete ? "" : ", incomplete") << '\n';
  EventPrinter Printer(*this, Out);
  for (const Event &E : events())
    Printer.print(E);
}

} // namespace torchtidy::model

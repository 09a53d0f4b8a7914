#include "memory/ViewPinsStorage.h"
#include "queries/loops/TripCount.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// What so few iterations keep is little.
static constexpr uint64_t FewViews = 8;
/// More small views of one storage may be most of it.
static constexpr unsigned MostViews = 2;

namespace {

/// The members and global variables that let their elements go somewhere, or
/// are given to code that may do it.
class Releases {
public:
  explicit Releases(Program &User) {
    for (const auto &Entry : User.executions()) {
      for (const ReleaseEvent &Release : Entry->events<ReleaseEvent>())
        add(Entry->places(), Release.Places);
      for (const EscapeEvent &Escape : Entry->events<EscapeEvent>())
        add(Entry->places(), Escape.Places);
    }
  }

  bool hasAny(const PlaceTable &Places, PlaceId P) const {
    return Released.count(Places.declaration(P)) != 0;
  }

private:
  void add(const PlaceTable &Places, const PlaceSet &Set) {
    for (PlaceId P : Set) {
      if (const ValueDecl *D = Places.declaration(P))
        Released.insert(D);
      // With an object goes what it consists of.
      for (PlaceId Part : Places.children(P))
        if (const ValueDecl *D = Places.declaration(Part))
          Released.insert(D);
    }
  }

  llvm::DenseSet<const ValueDecl *> Released;
};

class KeepQuery {
public:
  KeepQuery(const Execution &Entry, const Releases &Lists,
            llvm::ArrayRef<CallAt> Calls, const KeepEvent &Keep)
      : Entry(Entry), Lists(Lists), Calls(Calls), Keep(Keep), Kept(Keep.Kept) {}

  std::optional<ViewPinsStorage> run() {
    if (!Kept.isSmallPart() || isKnownSmall(Entry, Kept))
      return std::nullopt;
    findMakers();
    if (Keep.Places.empty())
      return describe(std::nullopt, nullptr);
    if (Keep.How != StoreKind::Append || Keep.Places.size() != 1 ||
        Kept.History != history::None || Makers.empty() || livesAnyway())
      return std::nullopt;
    const PlaceId List = Keep.Places.front();
    const auto Around = Entry.loopsAround(Keep.Point);
    return Around.empty() ? overCalls(List) : inLoop(List, Around);
  }

private:
  ViewPinsStorage describe(std::optional<PlaceId> List, const Loop *L) const {
    ViewPinsStorage Result;
    Result.Entry = &Entry;
    Result.Keep = &Keep;
    Result.IsSaved = Keep.Places.empty();
    Result.Place = List;
    Result.Around = L;
    if (Kept.StorageFrom.size() == 1)
      Result.Maker = Entry.allocation(Kept.StorageFrom.front()).Site;
    return Result;
  }

  /// Where the storage is made: another one each time.
  void findMakers() {
    for (AllocationId Id : Kept.StorageFrom) {
      const Allocation &Maker = Entry.allocation(Id);
      for (const CallAt &Each : Calls)
        if (Each.Call == Maker.Site && Each.In == Maker.In)
          Makers.insert(Each.Point);
    }
  }

  bool sharesStorage(const Value &Other) const {
    return llvm::any_of(Kept.StorageFrom, [&](AllocationId Maker) {
      return Other.hasStorageFrom(Maker);
    });
  }

  /// It is kept by another, or by several views together.
  bool livesAnyway() const {
    llvm::SmallPtrSet<const Expr *, 4> Views;
    for (const KeepEvent &Other : Entry.events<KeepEvent>()) {
      if (!sharesStorage(Other.Kept) || !isForLong(Other))
        continue;
      if (!Other.Kept.isSmallPart())
        return true;
      Views.insert(Other.Site);
    }
    return Views.size() > MostViews ||
           llvm::any_of(Entry.events<EscapeEvent>(),
                        [&](const EscapeEvent &Escape) {
                          return sharesStorage(Escape.Given) &&
                                 !Escape.Given.isSmallPart();
                        });
  }

  /// A variable has the last one only.
  bool isForLong(const KeepEvent &Other) const {
    return llvm::any_of(Other.Places, [&](PlaceId P) {
      return Other.How != StoreKind::Rebind || !Entry.places().isRoot(P) ||
             Entry.places().rootKind(P) != Root::Local;
    });
  }

  std::optional<ViewPinsStorage>
  inLoop(PlaceId List, llvm::ArrayRef<const Loop *> Around) const {
    const Loop &L = *Around.back();
    if (!Entry.outlives(List, L).value_or(false) ||
        mostTrips(Entry, L).value_or(FewViews + 1) <= FewViews ||
        // A second view of the same storage may come before the next one.
        reaches(Entry, Keep.Point, Keep.Point, Makers) ||
        isReleased(List, *Around.front()))
      return std::nullopt;
    return describe(List, &L);
  }

  bool isReleased(PlaceId List, const Loop &L) const {
    const auto LetsGo = [&](const auto &E) {
      return L.contains(E.Point) && Entry.mayAlias({List}, E.Places);
    };
    return llvm::any_of(Entry.events<ReleaseEvent>(), LetsGo) ||
           llvm::any_of(Entry.events<EscapeEvent>(), LetsGo);
  }

  /// Each call adds one to a member or a global variable.
  std::optional<ViewPinsStorage> overCalls(PlaceId List) const {
    const PlaceTable &Places = Entry.places();
    const Root Kind = Places.rootKind(List);
    if ((Kind != Root::This && Kind != Root::Global) ||
        !Places.declaration(List) ||
        isa<CXXConstructorDecl>(Entry.root().Function) ||
        Lists.hasAny(Places, List) ||
        reaches(Entry, Entry.start(), Keep.Point, Makers))
      return std::nullopt;
    return describe(List, nullptr);
  }

  const Execution &Entry;
  const Releases &Lists;
  const llvm::ArrayRef<CallAt> Calls;
  const KeepEvent &Keep;
  const Value &Kept;
  Nodes Makers;
};

} // namespace

std::vector<ViewPinsStorage> findViewPinsStorage(Program &Program) {
  std::vector<ViewPinsStorage> Result;
  std::optional<Releases> Lists;
  for (const Execution *Entry : Program.executionsThatCost()) {
    std::optional<std::vector<CallAt>> Calls;
    for (const KeepEvent &Keep : Entry->events<KeepEvent>()) {
      if (!Keep.Kept.isSmallPart())
        continue;
      if (!Lists)
        Lists.emplace(Program);
      if (!Calls)
        Calls = callsOf(*Entry);
      if (auto Found = KeepQuery(*Entry, *Lists, *Calls, Keep).run())
        Result.push_back(*Found);
    }
  }
  return Result;
}

} // namespace torchtidy::model

// What a module's members are, beside what it has registered.
//
// A member that was given another tensor than the one that is registered shows
// in the module's own memory: where a word was the address of the registered
// tensor, there is another one's. And a module that is a member without being
// registered is a shared pointer there, to a module that was seen to be made.
//
// Memory is read only of modules that make_shared or new has made and a shared
// pointer owns, so that malloc knows the size of their block, while one of
// their functions is being called. The layout of shared pointers is
// libstdc++'s.

#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

using Module = torch::nn::Module;
using WeakTensor =
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

constexpr size_t MostModules = 256, MostPairs = 64;
/// A shared pointer's counts, and the object behind them, as make_shared has
/// them (libstdc++): the functions, and two numbers.
constexpr uintptr_t SizeOfCounts = 16;

const ProbeSide *Tell;

/// A registered tensor, and where in the module it was a member.
struct Member {
  WeakTensor Registered;
  std::vector<uint32_t> Offsets;
  bool IsReplaced = false;
};

struct Seen {
  std::weak_ptr<const Module> Of;
  std::unordered_map<const void *, Member> Members;
};

/// A module that is a member of another one and not registered there.
struct Pair {
  std::weak_ptr<const Module> Owner, Part;
  const Module *Address;
  uint32_t MadeAt;
};

struct AllMembers {
  std::mutex Mutex;
  std::unordered_map<const Module *, Seen> Modules;
  std::vector<Pair> Pairs;
  /// How often a module was asked.
  std::unordered_map<const Module *, uint32_t> Asked;
};
/// Never destroyed.
AllMembers *Known;
std::atomic<bool> HasPairs;

uintptr_t wordAt(const void *Memory, size_t Offset) {
  uintptr_t Word;
  std::memcpy(&Word, static_cast<const char *>(Memory) + Offset, sizeof(Word));
  return Word;
}

/// The second word of a shared or weak pointer.
template <typename Pointer> uintptr_t countsOf(const Pointer &Of) {
  static_assert(sizeof(Of) == 2 * sizeof(uintptr_t), "two words");
  return wordAt(&Of, sizeof(uintptr_t));
}

/// Whether what counts the owners of an object is of the class of std's whose
/// name begins so.
bool isCountedBy(uintptr_t Counts, const char *Class) {
  const auto *Table = reinterpret_cast<const std::type_info *const *>(
      wordAt(reinterpret_cast<const void *>(Counts), 0));
  const std::type_info *Type = Table[-1];
  return Type && std::strncmp(Type->name(), Class, std::strlen(Class)) == 0;
}

/// The bytes from the beginning of a module to the end of its block, where
/// malloc has given that for make_shared or for new; 0 for others, which may
/// lie anywhere.
size_t sizeOf(const Module &Of) {
  const auto Address = reinterpret_cast<uintptr_t>(&Of);
  const std::weak_ptr<const Module> Weak = Of.weak_from_this();
  if (Weak.expired())
    return 0;
  const uintptr_t Counts = countsOf(Weak);
  size_t Room = 0;
  if (Counts + SizeOfCounts == Address &&
      isCountedBy(Counts, "St23_Sp_counted_ptr_inplaceI"))
    Room = Tell->bytesOfBlock(reinterpret_cast<const void *>(Counts));
  else if (isCountedBy(Counts, "St15_Sp_counted_ptrIP") &&
           wordAt(reinterpret_cast<const void *>(Counts), SizeOfCounts) ==
               Address)
    return Tell->bytesOfBlock(&Of);
  return Room > SizeOfCounts ? Room - SizeOfCounts : 0;
}

/// Reads memory that may not be there.
bool readSafely(uintptr_t From, void *Into, size_t Size) {
  const iovec Here{Into, Size}, There{reinterpret_cast<void *>(From), Size};
  return process_vm_readv(getpid(), &Here, 1, &There, 1, 0) ==
         static_cast<ssize_t>(Size);
}

/// Whether there is a module at the address, which these counts belong to, as a
/// shared pointer to it has them.
bool isAliveModule(uintptr_t Address, uintptr_t Counts) {
  // The functions, and the weak pointer of enable_shared_from_this.
  uintptr_t Words[3];
  int32_t Owners;
  return Counts && readSafely(Address, Words, sizeof(Words)) &&
         Words[1] == Address && Words[2] == Counts &&
         readSafely(Counts + sizeof(uintptr_t), &Owners, sizeof(Owners)) &&
         Owners > 0;
}

std::vector<uint32_t> placesOf(const Module &In, size_t Size,
                               const void *Address) {
  std::vector<uint32_t> Result;
  for (size_t At = sizeof(Module); At + sizeof(uintptr_t) <= Size;
       At += sizeof(uintptr_t))
    if (wordAt(&In, At) == reinterpret_cast<uintptr_t>(Address))
      Result.push_back(static_cast<uint32_t>(At));
  return Result;
}

void lookAt(const Module &In, size_t Size, Seen &Before,
            const at::Tensor &Registered) {
  const auto *Address = Registered.unsafeGetTensorImpl();
  auto Found = Before.Members.find(Address);
  if (Found == Before.Members.end() ||
      !(Found->second.Registered == WeakTensor(Registered.getIntrusivePtr()))) {
    Before.Members.erase(Address);
    auto Places = placesOf(In, Size, Address);
    if (!Places.empty())
      Before.Members.try_emplace(
          Address,
          Member{WeakTensor(Registered.getIntrusivePtr()), std::move(Places)});
    return;
  }
  Member &Of = Found->second;
  if (Of.IsReplaced)
    return;
  for (const uint32_t At : Of.Offsets)
    if (wordAt(&In, At) == reinterpret_cast<uintptr_t>(Address))
      return;
  const auto &Now = *reinterpret_cast<const at::Tensor *>(
      reinterpret_cast<const char *>(&In) + Of.Offsets.front());
  if (!Now.defined() || !Now.has_storage())
    return;
  Of.IsReplaced = true;
  Tell->memberReplaced(Now.storage().data());
}

using Set = std::unordered_set<const void *>;

void collect(const Module &From, std::vector<std::shared_ptr<Module>> &All,
             Set &Addresses) {
  for (std::shared_ptr<Module> &Each : From.children()) {
    if (!Each || All.size() >= MostModules ||
        !Addresses.insert(Each.get()).second)
      continue;
    const Module &Child = *Each;
    All.push_back(std::move(Each));
    collect(Child, All, Addresses);
  }
}

/// Shared pointers to modules that are registered nowhere below the root.
void lookForParts(const Module &In, size_t Size, const Set &Registered) {
  for (size_t At = sizeof(Module); At + 2 * sizeof(uintptr_t) <= Size;
       At += sizeof(uintptr_t)) {
    const uintptr_t Address = wordAt(&In, At);
    const auto *Part = reinterpret_cast<const Module *>(Address);
    if (!Address || Address % alignof(Module) || Registered.count(Part) ||
        Known->Pairs.size() >= MostPairs)
      continue;
    const uint32_t MadeAt = Tell->moduleMadeAt(Part);
    if (!MadeAt || !isAliveModule(Address, wordAt(&In, At + sizeof(uintptr_t))))
      continue;
    const std::weak_ptr<const Module> Weak = Part->weak_from_this();
    bool IsKnown = false;
    for (const Pair &Each : Known->Pairs)
      IsKnown |= Each.Address == Part && !Each.Part.expired();
    if (!IsKnown)
      Known->Pairs.push_back({In.weak_from_this(), Weak, Part, MadeAt});
  }
  HasPairs.store(!Known->Pairs.empty(), std::memory_order_relaxed);
}

void dropDead() {
  for (auto Each = Known->Modules.begin(); Each != Known->Modules.end();)
    Each = Each->second.Of.expired() ? Known->Modules.erase(Each)
                                     : std::next(Each);
  auto &Pairs = Known->Pairs;
  Pairs.erase(std::remove_if(Pairs.begin(), Pairs.end(),
                             [](const Pair &Each) {
                               return Each.Owner.expired() ||
                                      Each.Part.expired();
                             }),
              Pairs.end());
}

void lookAt(const Module &In, const Set &Registered) {
  const size_t Size = sizeOf(In);
  if (!Size)
    return;
  Seen &Before = Known->Modules[&In];
  if (Before.Of.expired())
    Before = {In.weak_from_this(), {}};
  for (const auto &Each : In.named_parameters(/*recurse=*/false))
    if (Each.value().defined())
      lookAt(In, Size, Before, Each.value());
  for (const auto &Each : In.named_buffers(/*recurse=*/false))
    if (Each.value().defined())
      lookAt(In, Size, Before, Each.value());
  lookForParts(In, Size, Registered);
}

} // namespace

void watchMembers(const ProbeSide &Probe) {
  Tell = &Probe;
  Known = new AllMembers;
}

void membersForked() {
  if (Known)
    Known = new AllMembers;
  HasPairs.store(false);
}

void moduleAsked(const void *Of) {
  const Module &Root = *static_cast<const Module *>(Of);
  std::lock_guard<std::mutex> Lock(Known->Mutex);
  if (Known->Asked.size() >= 4 * MostModules)
    Known->Asked.clear();
  if (!isDue(++Known->Asked[&Root]))
    return;
  tellNetwork(Root, *Tell);
  if (Known->Modules.size() >= MostModules || Known->Pairs.size() >= MostPairs)
    dropDead();
  std::vector<std::shared_ptr<Module>> All;
  Set Addresses{&Root};
  collect(Root, All, Addresses);
  if (Known->Modules.size() + All.size() >= 2 * MostModules)
    return;
  lookAt(Root, Addresses);
  for (const auto &Each : All)
    lookAt(*Each, Addresses);
}

void moduleCalled(const void *Of) {
  if (!HasPairs.load(std::memory_order_relaxed))
    return;
  const Module *Called = static_cast<const Module *>(Of);
  std::lock_guard<std::mutex> Lock(Known->Mutex);
  for (const Pair &Each : Known->Pairs)
    if (Each.Address == Called && !Each.Part.expired())
      if (const auto Owner = Each.Owner.lock())
        // In training both may be as they were made.
        if (!Owner->is_training() || !Called->is_training())
          Tell->memberCalled(Each.MadeAt,
                             Owner->is_training() == Called->is_training());
}

void parametersGiven(const void *Tensors) {
  const auto &All = *static_cast<const std::vector<at::Tensor> *>(Tensors);
  std::unordered_map<const void *, uint32_t> Times;
  for (const at::Tensor &Each : All)
    ++Times[Each.unsafeGetTensorImpl()];
  if (Times.size() == All.size())
    return;
  for (const at::Tensor &Each : All) {
    const auto Number = Times.find(Each.unsafeGetTensorImpl());
    if (Number->second > 1 && Each.has_storage())
      Tell->parameterListed(Each.storage().data(), Number->second);
  }
}

} // namespace torchtidy::confirm::probe

// Tensors that were saved for a backward and then written in place: an
// exception says which version of which tensor it has found, and here it is
// looked up what has written that, and whether it is a leaf of the graph.

#include "Tensors.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

namespace torchtidy::confirm::probe {
namespace {

using WeakHooked =
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

using KeptStorage = c10::weak_intrusive_ptr<
    c10::StorageImpl,
    c10::detail::intrusive_target_default_null_type<c10::StorageImpl>>;

/// An operation that has written in place to a tensor, or to a view of it.
struct Write {
  /// A weak one: its address is nobody else's while it is here.
  KeptStorage Storage;
  /// Of the tensor, which views share.
  uint64_t VersionAfter;
  /// The numbers of elements of the tensor, and of what it is a view of.
  int64_t Elements, OfBase;
  /// What had made them; null where nothing recorded has.
  const std::type_info *Made, *BaseMade;
  uint32_t Site;
};
constexpr size_t MostWrites = 256, MostHooked = 4096;

/// Never destroyed: operations may run while the program ends.
struct AllWrites {
  std::mutex Mutex;
  /// The last ones; as many as there is room for, the oldest is replaced.
  std::vector<Write> Last;
  size_t Count = 0;
  std::unordered_map<uint64_t, WeakHooked> Hooked;
};
AllWrites *Writes;
const ProbeSide *Blames;

/// Asking a view for its grad_fn() may make another one.
const std::type_info *makerOf(const at::TensorBase &Of) {
  const auto *Meta = static_cast<torch::autograd::AutogradMeta *>(
      Of.unsafeGetTensorImpl()->autograd_meta());
  if (!Meta || !Meta->grad_fn_)
    return nullptr;
  const torch::autograd::Node &Node = *Meta->grad_fn_;
  return &typeid(Node);
}

/// "... by an inplace operation: [CPUFloatType [32, 16]], which is output 0 of
/// SigmoidBackward0, is at version 1; expected version 0 instead. ..."
struct Told {
  int64_t Elements = 1;
  /// Empty where it says none.
  std::string Maker;
  uint64_t Version = 0, Expected = 0;

  bool read(const char *Message) {
    const char *At = std::strstr(Message, "operation: [");
    At = At ? std::strchr(At + 12, '[') : nullptr;
    const char *Now = std::strstr(Message, "is at version ");
    const char *Before = std::strstr(Message, "expected version ");
    if (!At || !Now || !Before)
      return false;
    for (++At; *At && *At != ']';) {
      char *End;
      Elements *= std::strtoll(At, &End, 10);
      if (End == At)
        break;
      At = End + std::strspn(End, ", ");
    }
    Version = std::strtoull(Now + 14, nullptr, 10);
    Expected = std::strtoull(Before + 17, nullptr, 10);
    if (const char *Output = std::strstr(Message, "which is output "))
      if (const char *Of = std::strstr(Output, " of "))
        Maker.assign(Of + 4, std::strcspn(Of + 4, ", "));
    return true;
  }

  /// The name in a type is that of its class: "16SigmoidBackward0".
  bool isMadeBy(const std::type_info *Type) const {
    return Maker.empty() ? !Type
                         : Type && std::strstr(Type->name(), Maker.c_str());
  }
};

bool isMeant(const Told &Tensor, const Write &By) {
  return (By.Elements == Tensor.Elements && Tensor.isMadeBy(By.Made)) ||
         (By.OfBase == Tensor.Elements && Tensor.isMadeBy(By.BaseMade));
}

/// The first write since the tensor was saved found what had made it; those
/// after it are writes to the same memory.
void blameWrites(const Told &Tensor) {
  std::vector<uint32_t> Sites;
  {
    std::lock_guard<std::mutex> Lock(Writes->Mutex);
    for (const Write &First : Writes->Last) {
      if (First.VersionAfter != Tensor.Expected + 1 || !isMeant(Tensor, First))
        continue;
      for (const Write &Each : Writes->Last)
        if (Each.Storage == First.Storage &&
            Each.VersionAfter > Tensor.Expected &&
            Each.VersionAfter <= Tensor.Version &&
            std::find(Sites.begin(), Sites.end(), Each.Site) == Sites.end())
          Sites.push_back(Each.Site);
    }
  }
  for (const uint32_t Each : Sites)
    Blames->savedWasWritten(Each);
}

/// The leaf behind an edge, itself or through a view of it.
const at::Tensor *leafBehind(const torch::autograd::Node *Node) {
  constexpr int MostViews = 4;
  for (int I = 0; Node && I <= MostViews; ++I) {
    if (const auto *Leaf =
            dynamic_cast<const torch::autograd::AccumulateGrad *>(Node))
      return Leaf->variable.defined() ? &Leaf->variable : nullptr;
    if (Node->num_outputs() != 1)
      return nullptr;
    Node = Node->next_edge(0).function.get();
  }
  return nullptr;
}

/// What a node has saved of its operands are tensors that its edges lead to.
bool isLeafOf(const torch::autograd::Node &Node, const Told &Tensor) {
  const auto &Edges = Node.next_edges();
  return std::any_of(Edges.begin(), Edges.end(), [&](const auto &Edge) {
    const auto *Next = Edge.function.get();
    const at::Tensor *Leaf = leafBehind(Next);
    const bool IsDirect =
        dynamic_cast<const torch::autograd::AccumulateGrad *>(Next);
    return Leaf && IsDirect == Tensor.Maker.empty() &&
           Leaf->numel() == Tensor.Elements && !Leaf->is_inference() &&
           static_cast<uint64_t>(Leaf->_version()) == Tensor.Version;
  });
}

} // namespace

void watchWrites(const ProbeSide &Side) {
  Blames = &Side;
  Writes = new AllWrites;
}

void writesForked() {
  // Another thread of the parent may have been in here.
  if (Writes)
    Writes = new AllWrites;
}

void keepWrite(const at::Tensor &Of, uint32_t Site) {
  if (Of.is_inference() || !Of.has_storage())
    return;
  Write Now = {KeptStorage(Of.storage().getWeakStorageImpl()),
               static_cast<uint64_t>(Of._version()) + 1,
               Of.numel(),
               0,
               makerOf(Of),
               nullptr,
               Site};
  if (Of.is_view()) {
    const at::TensorBase &Base = Of._base();
    Now.OfBase = Base.numel();
    Now.BaseMade = makerOf(Base);
  }
  std::lock_guard<std::mutex> Lock(Writes->Mutex);
  if (Writes->Last.size() < MostWrites)
    Writes->Last.push_back(std::move(Now));
  else
    Writes->Last[Writes->Count++ % MostWrites] = std::move(Now);
}

void modifiedThrown(const char *Message, const void *Node, uint32_t Site) {
  Told Tensor;
  if (!Tensor.read(Message))
    return;
  blameWrites(Tensor);
  if (Node &&
      isLeafOf(*static_cast<const torch::autograd::Node *>(Node), Tensor))
    Blames->leafWasWritten(Site);
}

bool isHookedAgain(const void *Tensor, uint32_t Site) {
  const at::Tensor &Of = *static_cast<const at::Tensor *>(Tensor);
  if (!Of.defined())
    return false;
  // A weak reference keeps the address from being taken by another tensor.
  const uint64_t Key =
      reinterpret_cast<uintptr_t>(Of.unsafeGetTensorImpl()) << 16 ^ Site;
  std::lock_guard<std::mutex> Lock(Writes->Mutex);
  if (Writes->Hooked.size() >= MostHooked)
    Writes->Hooked.clear();
  return !Writes->Hooked.try_emplace(Key, Of.getIntrusivePtr()).second;
}

} // namespace torchtidy::confirm::probe

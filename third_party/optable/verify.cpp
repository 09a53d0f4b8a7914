// Runs LibTorch's operations on random arguments, on the CPU, and prints what
// they did: verify.py compares it with the rules that the operation table is
// made by.
//
// One line per overload, fields separated by tabs: name, overload, number of
// calls that did not throw, then counts (what=how often):
//   alias fresh    the first result shares the first tensor argument's storage,
//   or not connected cut  it requires grad, or not, though an argument does
//   integral       neither can be, as its type cannot require grad
//   sync nosync    item(), nonzero() and the like were called inside, or not
//   writes:NAME    the version counter of the argument NAME went up
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using at::Tensor;
using c10::IValue;
using c10::TypeKind;

// Enough for a tri-state: more calls of one overload tell nothing new.
constexpr int EnoughCalls = 40;
constexpr int MaxCrashes = 30;
constexpr unsigned SecondsPerOverload = 60;

static std::mt19937 Random;
static int pick(int N) { return static_cast<int>(Random() % N); }
template <typename T> static T oneOf(std::initializer_list<T> Values) {
  return Values.begin()[pick(static_cast<int>(Values.size()))];
}

static const std::vector<std::vector<int64_t>> Shapes = {
    {4, 4},          {4},    {},  {2, 3, 8, 8}, {2, 3, 8}, {2, 4, 4}, {1},
    {2, 3, 4, 8, 8}, {4, 1}, {3}, {2}};

namespace {
/// Makes the arguments of one call. Most tensors of a call have the same shape.
class ArgumentMaker {
public:
  explicit ArgumentMaker(int Try) : Shape(Shapes[Try % Shapes.size()]) {}

  /// False if this program knows no value of the type.
  bool make(const c10::Argument &Argument, IValue &Value) {
    // Most calls use all defaults.
    if (Argument.default_value() && (UseDefaults || pick(2)))
      Value = *Argument.default_value();
    else if (!make(Argument, Argument.real_type(), Value))
      return false;
    if (Value.isTensor() || Value.isTensorList())
      First = false;
    return true;
  }

private:
  Tensor tensor(const std::string &Name) {
    auto Sizes = pick(3) ? Shape : Shapes[pick(Shapes.size())];
    auto Contains = [&](const char *Part) {
      return Name.find(Part) != std::string::npos;
    };
    if ((Contains("ind") || Contains("target") || Contains("offsets") ||
         Contains("repeats") || Contains("lengths")) &&
        pick(5))
      return at::randint(0, 1 + pick(3), Sizes, at::kLong);
    if ((Contains("mask") || Contains("cond")) && pick(5))
      return at::randint(0, 2, Sizes, at::kBool);
    if (int Other = pick(First ? 20 : 10); Other < 2)
      return at::randint(0, 2, Sizes, Other ? at::kBool : at::kLong);
    Tensor Leaf = at::rand(Sizes, pick(20) ? at::kFloat : at::kComplexFloat);
    if (Sizes.size() >= 2 && !pick(8))
      Leaf = Leaf.transpose(0, 1).contiguous().transpose(0, 1);
    if (!Sizes.empty() && !pick(25))
      Leaf = Leaf.to_sparse();
    Leaf.set_requires_grad(true);
    return Leaf.mul(1.0); // No leaf, so that it can be written in place.
  }

  static int64_t integer(const std::string &Name) {
    if (Name.find("dtype") != std::string::npos)
      return static_cast<int64_t>(
          oneOf({at::kFloat, at::kDouble, at::kLong, at::kBool}));
    return oneOf<int64_t>({0, 1, 2, -1, 3, 4});
  }

  std::vector<int64_t> integers(const c10::Argument &Argument) {
    int64_t Rank = static_cast<int64_t>(Shape.size());
    int Kind = pick(4);
    if (Kind == 0)
      return Shape;
    std::vector<int64_t> Result(Kind == 1                 ? Rank
                                : Argument.N() && pick(2) ? *Argument.N()
                                                          : pick(5));
    for (size_t I = 0; I < Result.size(); ++I)
      Result[I] = Kind == 1   ? Rank - 1 - static_cast<int64_t>(I)
                  : Kind == 2 ? 1 + pick(3)
                              : pick(3);
    return Result;
  }

  bool make(const c10::Argument &Argument, const c10::TypePtr &Type,
            IValue &Value) {
    switch (Type->kind()) {
    case TypeKind::TensorType:
      Value = tensor(Argument.name());
      return true;
    case TypeKind::OptionalType: {
      auto Element = Type->castRaw<c10::OptionalType>()->getElementType();
      if (!pick(Element->kind() == TypeKind::TensorType ? 2 : 4))
        return make(Argument, Element, Value);
      Value = IValue();
      return true;
    }
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      Value = integer(Argument.name());
      return true;
    case TypeKind::ScalarTypeType:
      Value = integer("dtype");
      return true;
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      Value = int64_t{0};
      return true;
    case TypeKind::DeviceObjType:
      Value = c10::Device(c10::kCPU);
      return true;
    case TypeKind::FloatType:
      Value = oneOf({0.5, 0., 1., 2.});
      return true;
    case TypeKind::BoolType:
      Value = static_cast<bool>(pick(2));
      return true;
    case TypeKind::NumberType:
      if (pick(2))
        Value = oneOf({0.5, 0., 1., 2.});
      else
        Value = static_cast<int64_t>(pick(4));
      return true;
    case TypeKind::StringType:
      Value = std::string(
          Argument.name() == "equation"
              ? oneOf({"ij->ji", "ij,jk->ik", "ij->i", "i,i->", "bij->bji"})
              : oneOf({"mean",     "sum", "none",     "reflect", "constant",
                       "ij",       "xy",  "floor",    "trunc",   "amax",
                       "prod",     "add", "multiply", "fro",     "nuc",
                       "zeros",    "max", "gelu",     "tanh",    "linear",
                       "bilinear", "L"}));
      return true;
    case TypeKind::ListType:
      return makeList(Argument,
                      Type->castRaw<c10::ListType>()->getElementType(), Value);
    default:
      return false;
    }
  }

  bool makeList(const c10::Argument &Argument, const c10::TypePtr &Element,
                IValue &Value) {
    int Size = 1 + pick(3);
    switch (Element->kind()) {
    case TypeKind::TensorType: {
      c10::List<Tensor> List;
      while (Size--)
        List.push_back(tensor(Argument.name()));
      Value = List;
      return true;
    }
    case TypeKind::OptionalType: { // Tensor?[] indices
      if (Element->castRaw<c10::OptionalType>()->getElementType()->kind() !=
          TypeKind::TensorType)
        return false;
      c10::List<std::optional<Tensor>> List;
      First = false;
      while (Size--)
        List.push_back(tensor("indices"));
      Value = List;
      return true;
    }
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      Value = c10::List<int64_t>(c10::ArrayRef<int64_t>(integers(Argument)));
      return true;
    case TypeKind::FloatType:
      Value = c10::List<double>({1., 2.});
      return true;
    case TypeKind::NumberType: {
      c10::impl::GenericList List(Element);
      while (Size--)
        List.push_back(1. + Size);
      Value = List;
      return true;
    }
    case TypeKind::BoolType: {
      c10::List<bool> List;
      for (int I = Argument.N() ? *Argument.N() : Size; I > 0; --I)
        List.push_back(true);
      Value = List;
      return true;
    }
    default:
      return false;
    }
  }

  const std::vector<int64_t> &Shape;
  bool UseDefaults = pick(4) != 0;
  bool First = true;
};
} // namespace

static void collect(const IValue &Value, std::vector<Tensor> &Tensors) {
  if (Value.isTensor() && Value.toTensor().defined())
    Tensors.push_back(Value.toTensor());
  else if (Value.isList())
    for (const IValue &Element : Value.toListRef())
      collect(Element, Tensors);
}

static bool Watching = false, Synchronised = false;

/// What would wait for the device, if there were one.
static std::unique_ptr<at::ObserverContext>
enter(const at::RecordFunction &Function) {
  static const std::set<std::string> Waits = {"aten::_local_scalar_dense",
                                              "aten::nonzero",
                                              "aten::equal",
                                              "aten::_unique2",
                                              "aten::unique_dim",
                                              "aten::unique_consecutive",
                                              "aten::masked_select"};
  if (Watching && Waits.count(Function.name()))
    Synchronised = true;
  return nullptr;
}

static bool isFloating(const Tensor &T) {
  return T.is_floating_point() || T.is_complex();
}

static void callOnce(const c10::OperatorHandle &Operation, int Try, int &Calls,
                     std::map<std::string, int> &Counts) {
  Random.seed(Try * 7919 + 13);
  at::manual_seed(Try);
  const auto &Arguments = Operation.schema().arguments();
  ArgumentMaker Maker(Try);
  std::vector<IValue> Stack(Arguments.size());
  std::vector<std::vector<Tensor>> Inputs(Arguments.size());
  std::vector<std::vector<uint32_t>> Versions(Arguments.size());
  const std::vector<Tensor> *FirstInput = nullptr;
  bool RequiresGrad = false, AllStrided = true;
  for (size_t I = 0; I < Arguments.size(); ++I) {
    if (!Maker.make(Arguments[I], Stack[I]))
      return;
    collect(Stack[I], Inputs[I]);
    for (const Tensor &T : Inputs[I]) {
      Versions[I].push_back(T._version());
      RequiresGrad |= T.requires_grad();
      AllStrided &= T.layout() == at::kStrided;
    }
    if (!FirstInput && !Inputs[I].empty())
      FirstInput = &Inputs[I];
  }

  Synchronised = false;
  Watching = true;
  Operation.callBoxed(&Stack);
  Watching = false;

  ++Calls;
  if (AllStrided) // Sparse tensors are another matter.
    ++Counts[Synchronised ? "sync" : "nosync"];
  std::vector<Tensor> Results;
  for (const IValue &Value : Stack)
    collect(Value, Results);
  if (!Results.empty()) {
    const Tensor &Result = Results.front();
    if (FirstInput && Result.has_storage() && Result.numel()) {
      bool Known = true, Alias = false;
      for (const Tensor &T : *FirstInput) {
        Known &= T.has_storage(); // Sparse tensors have none of their own.
        Alias |= T.has_storage() && Result.is_alias_of(T);
      }
      if (Known)
        ++Counts[Alias ? "alias" : "fresh"];
    }
    if (RequiresGrad)
      ++Counts[!isFloating(Result)      ? "integral"
               : Result.requires_grad() ? "connected"
                                        : "cut"];
  }
  for (size_t I = 0; I < Arguments.size(); ++I)
    for (size_t J = 0; J < Inputs[I].size(); ++J)
      if (Inputs[I][J]._version() != Versions[I][J])
        ++Counts["writes:" + Arguments[I].name()];
}

static sigjmp_buf AfterCrash;
static void onCrash(int) { siglongjmp(AfterCrash, 1); }

/// Calls one overload often. Some crash on arguments that they should refuse.
static void callOften(const c10::OperatorHandle &Operation, int Tries) {
  static int Calls, Crashes, Try;
  static std::map<std::string, int> Counts;
  for (Try = 0; Try < Tries && Calls < EnoughCalls; ++Try) {
    for (int Signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL, SIGBUS})
      signal(Signal, onCrash);
    if (sigsetjmp(AfterCrash, 1)) {
      if (++Crashes > MaxCrashes)
        break;
      continue;
    }
    try {
      callOnce(Operation, Try, Calls, Counts);
    } catch (const std::exception &) {
      // Arguments that do not fit.
    }
    Watching = false;
  }
  const auto &Name = Operation.operator_name();
  printf("%s\t%s\t%d", Name.name.c_str() + strlen("aten::"),
         Name.overload_name.c_str(), Calls);
  for (const auto &[What, Count] : Counts)
    printf("\t%s=%d", What.c_str(), Count);
  printf("\n");
  fflush(stdout);
  _exit(0);
}

int main(int Argc, char **Argv) {
  int Tries = Argc > 1 ? atoi(Argv[1]) : 1000;
  std::set<std::string> Only(Argv + std::min(Argc, 2), Argv + Argc);
  at::set_num_threads(1);
  at::addGlobalCallback(
      at::RecordFunctionCallback(enter).scopes({at::RecordScope::FUNCTION}));

  std::map<std::string, c10::OperatorHandle> Operations;
  for (const auto &Name : c10::Dispatcher::singleton().getAllOpNames()) {
    auto Operation = c10::Dispatcher::singleton().findSchema(Name);
    if (!Operation || Name.name.rfind("aten::", 0) ||
        Name.name.find("backward") != std::string::npos ||
        (!Only.empty() && !Only.count(Name.name.substr(strlen("aten::")))))
      continue;
    bool IsOut = false;
    for (const auto &Argument : Operation->schema().arguments())
      IsOut |= Argument.is_out();
    if (!IsOut)
      Operations.emplace(toString(Name), *Operation);
  }
  for (const auto &[Name, Operation] : Operations) {
    fflush(stdout);
    pid_t Child = fork();
    if (Child == 0) {
      alarm(SecondsPerOverload);
      rlimit Memory{rlim_t{12} << 30, rlim_t{12} << 30};
      setrlimit(RLIMIT_AS, &Memory);
      (void)!freopen("/dev/null", "w", stderr);
      callOften(Operation, Tries);
    }
    waitpid(Child, nullptr, 0);
  }
  fflush(stdout);
  _exit(0);
}

#include "torch/Types.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Ownership.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isLibraryPath(StringRef Path) {
  // Headers that were found through -I include have a path that is relative.
  std::string Relative;
  if (!Path.starts_with("/")) {
    Relative = ("/" + Path).str();
    Path = Relative;
  }
  for (StringRef Folder :
       {"/torch/include/", "/include/torch/", "/include/ATen/", "/include/c10/",
        "/include/caffe2/", "/torch/csrc/"})
    if (Path.contains(Folder))
      return true;
  return false;
}

bool isLibTorch(const Decl *D) {
  if (!D)
    return false;
  StringRef Namespace = ast::outermostNamespace(D);
  if (Namespace != "at" && Namespace != "torch" && Namespace != "c10" &&
      Namespace != "caffe2")
    return false;
  // A user's own namespace torch is not LibTorch's.
  const SourceManager &SM = D->getASTContext().getSourceManager();
  SourceLocation Location = SM.getExpansionLoc(D->getLocation());
  return Location.isInvalid() || SM.isInSystemHeader(Location) ||
         isLibraryPath(SM.getFilename(Location));
}

bool isStd(const Decl *D) {
  if (!D)
    return false;
  StringRef Namespace = ast::outermostNamespace(D);
  // libstdc++ keeps the iterators of its containers in a namespace of its own.
  return Namespace == "std" || Namespace == "__gnu_cxx";
}

bool isReferenceWrapper(QualType Type) {
  const CXXRecordDecl *Record = recordOf(Type.getNonReferenceType());
  return Record && isStd(Record) && ast::nameOf(Record) == "reference_wrapper";
}

StringRef stdName(const FunctionDecl *F) {
  return F && F->getIdentifier() && isStd(F) ? F->getName() : StringRef();
}

bool makesObject(const FunctionDecl *F) {
  return F && (isStd(F) || isLibTorch(F)) &&
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("make_shared", "make_unique", "make_intrusive", true)
             .Default(false);
}

const CallExpr *asTie(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(ast::strip(E));
  const StringRef Name = Call ? stdName(Call->getDirectCallee()) : StringRef();
  return Name == "tie" || Name == "forward_as_tuple" ? Call : nullptr;
}

using RecordSet = llvm::SmallPtrSet<const CXXRecordDecl *, 8>;

static const CXXRecordDecl *strip(QualType Type) {
  if (Type.isNull())
    return nullptr;
  Type = Type.getNonReferenceType();
  while (Type->isPointerType() || Type->isArrayType())
    Type = Type->isPointerType()
               ? Type->getPointeeType()
               : Type->getAsArrayTypeUnsafe()->getElementType();
  Type = Type.getCanonicalType();
  if (const CXXRecordDecl *Record = Type->getAsCXXRecordDecl())
    return Record;
  // The current class, or a specialization, inside an uninstantiated template.
  if (const auto *Specialization = Type->getAs<TemplateSpecializationType>())
    if (const auto *Template = dyn_cast_or_null<ClassTemplateDecl>(
            Specialization->getTemplateName().getAsTemplateDecl()))
      return Template->getTemplatedDecl();
  return nullptr;
}

const CXXRecordDecl *recordOf(QualType Type) { return strip(Type); }

static TypeKind kindOfStd(StringRef Name) {
  return llvm::StringSwitch<TypeKind>(Name)
      .Cases("shared_ptr", "unique_ptr", "weak_ptr", "optional",
             "reference_wrapper", TypeKind::Pointer)
      .Cases("vector", "deque", "list", "forward_list", "map",
             TypeKind::Container)
      .Cases("unordered_map", "multimap", "unordered_multimap", "set",
             "unordered_set", TypeKind::Container)
      .Cases("multiset", "stack", "queue", "priority_queue",
             TypeKind::Container)
      .Cases("tuple", "pair", "array", TypeKind::Aggregate)
      .Cases("function", "packaged_task", TypeKind::Callable)
      .Cases("thread", "jthread", "future", TypeKind::Thread)
      .Default(TypeKind::Other);
}

static TypeKind kindOfLibTorch(const CXXRecordDecl *Record) {
  StringRef Name = ast::nameOf(Record);
  TypeKind Kind =
      llvm::StringSwitch<TypeKind>(Name)
          .Cases("Tensor", "TensorBase", TypeKind::Tensor)
          .Case("Optimizer", TypeKind::Optimizer)
          .Cases("ModuleHolder", "AnyModule", TypeKind::ModuleHolder)
          .Case("IValue", TypeKind::IValue)
          .Cases("NoGradGuard", "InferenceMode", "AutoDispatchBelowAutograd",
                 "AutoNonVariableTypeMode", TypeKind::NoGradGuard)
          // The second sets it to that of another thread.
          .Cases("AutoGradMode", "ThreadLocalStateGuard",
                 TypeKind::GradModeGuard)
          .Cases("intrusive_ptr", "optional", "MaybeOwned", TypeKind::Pointer)
          .Cases("List", "Dict", "SmallVector", "SmallVectorImpl",
                 TypeKind::Container)
          .Cases("OrderedDict", "ArrayRef", "TensorListDict",
                 TypeKind::Container)
          .Default(TypeKind::Other);
  // A method of a TorchScript module, as get_method() returns it, stands for
  // the module: it has the parameters, and its call is a forward pass. Object
  // is the base class.
  if (Name == "Module" || Name == "Method" || Name == "Object") {
    const auto *Namespace = dyn_cast<NamespaceDecl>(Record->getDeclContext());
    StringRef In = Namespace ? ast::nameOf(Namespace) : StringRef();
    return In == "jit"                      ? TypeKind::ScriptModule
           : In == "nn" && Name == "Module" ? TypeKind::Module
                                            : TypeKind::Other;
  }
  return Kind;
}

/// Seen: what was looked at so far. Classes that point to each other, each
/// by many members, would take forever without.
static TypeKind classify(const CXXRecordDecl *Record, RecordSet &Seen) {
  if (!Record || !Seen.insert(Record->getCanonicalDecl()).second)
    return TypeKind::Other;
  const bool IsLibTorch = isLibTorch(Record);
  if (IsLibTorch) {
    TypeKind Kind = kindOfLibTorch(Record);
    if (Kind != TypeKind::Other)
      return Kind;
  } else if (isStd(Record)) {
    return kindOfStd(ast::nameOf(Record));
  }
  const CXXRecordDecl *Definition = Record->getDefinition();
  if (!Definition)
    return TypeKind::Other;
  for (const CXXBaseSpecifier &Base : Definition->bases()) {
    TypeKind Kind = classify(strip(Base.getType()), Seen);
    if (Kind != TypeKind::Other)
      return Kind;
  }
  if (IsLibTorch)
    return TypeKind::Other;
  // A user's RAII type: a class whose purpose is the guard it holds. A class
  // that also holds tensors or modules is no guard but has one, which is then
  // in force only in the thread and as long as the object lives; the same here.
  for (const FieldDecl *Field : Definition->fields()) {
    if (Field->getType()->isPointerType() ||
        Field->getType()->isReferenceType())
      continue;
    TypeKind Kind = classify(strip(Field->getType()), Seen);
    if (Kind == TypeKind::Pointer)
      Kind = classify(strip(pointee(Field->getType())), Seen);
    if (Kind == TypeKind::NoGradGuard || Kind == TypeKind::GradModeGuard)
      return Kind;
  }
  return TypeKind::Other;
}

TypeKind kindOf(const CXXRecordDecl *Record) {
  RecordSet Seen;
  return classify(Record, Seen);
}

TypeKind kindOf(QualType Type) { return kindOf(strip(Type)); }

bool isModule(QualType Type) {
  TypeKind Kind = kindOf(Type);
  return Kind == TypeKind::Module || Kind == TypeKind::ModuleHolder ||
         Kind == TypeKind::ScriptModule;
}

bool isHandle(QualType Type) {
  const TypeKind Kind = kindOf(Type);
  return isModule(Type) || Kind == TypeKind::Pointer ||
         Kind == TypeKind::Optimizer || Type->isPointerType();
}

static QualType firstTemplateArgument(const CXXRecordDecl *Record) {
  const auto *Specialization =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(Record);
  if (!Specialization || Specialization->getTemplateArgs().size() == 0)
    return QualType();
  const TemplateArgument &First = Specialization->getTemplateArgs()[0];
  return First.getKind() == TemplateArgument::Type ? First.getAsType()
                                                   : QualType();
}

/// The base class Record::Name<...>, Record itself included.
static const CXXRecordDecl *findBase(const CXXRecordDecl *Record,
                                     StringRef Name, unsigned Depth = 0) {
  if (!Record || Depth > 8)
    return nullptr;
  if (ast::nameOf(Record) == Name)
    return Record;
  const CXXRecordDecl *Definition = Record->getDefinition();
  if (!Definition)
    return nullptr;
  for (const CXXBaseSpecifier &Base : Definition->bases())
    if (const CXXRecordDecl *Found =
            findBase(strip(Base.getType()), Name, Depth + 1))
      return Found;
  return nullptr;
}

QualType pointee(QualType Type) {
  if (Type.isNull())
    return Type;
  Type = Type.getNonReferenceType();
  if (Type->isPointerType())
    return Type->getPointeeType();
  const CXXRecordDecl *Record = strip(Type);
  switch (kindOf(Record)) {
  case TypeKind::Pointer:
    return firstTemplateArgument(Record);
  case TypeKind::ModuleHolder:
    return firstTemplateArgument(findBase(Record, "ModuleHolder"));
  default:
    return Type;
  }
}

QualType elementType(QualType Type) {
  const CXXRecordDecl *Record = strip(Type);
  if (!Record || kindOf(Record) != TypeKind::Container)
    return QualType();
  const auto *Specialization =
      dyn_cast<ClassTemplateSpecializationDecl>(Record);
  if (!Specialization)
    return QualType();
  const TemplateArgumentList &Arguments = Specialization->getTemplateArgs();
  StringRef Name = ast::nameOf(Record);
  unsigned Index = Name.ends_with("map") || Name.ends_with("Dict") ? 1 : 0;
  if (Index >= Arguments.size() ||
      Arguments[Index].getKind() != TemplateArgument::Type)
    return QualType();
  return Arguments[Index].getAsType();
}

llvm::SmallVector<QualType, 4> tupleTypes(QualType Type) {
  llvm::SmallVector<QualType, 4> Result;
  const CXXRecordDecl *Record = strip(Type);
  const auto *Specialization =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(Record);
  if (!Specialization || kindOf(Record) != TypeKind::Aggregate)
    return Result;
  const TemplateArgumentList &Arguments = Specialization->getTemplateArgs();
  if (ast::nameOf(Record) == "array") {
    // Long ones are containers to us.
    if (Arguments.size() == 2 &&
        Arguments[1].getKind() == TemplateArgument::Integral &&
        Arguments[1].getAsIntegral().ule(8))
      Result.assign(Arguments[1].getAsIntegral().getZExtValue(),
                    Arguments[0].getAsType());
    return Result;
  }
  auto Add = [&](const TemplateArgument &Argument) {
    if (Argument.getKind() == TemplateArgument::Type)
      Result.push_back(Argument.getAsType());
  };
  for (const TemplateArgument &Argument : Arguments.asArray()) {
    if (Argument.getKind() != TemplateArgument::Pack)
      Add(Argument);
    else
      for (const TemplateArgument &Part : Argument.pack_elements())
        Add(Part);
  }
  return Result;
}

bool isOptional(QualType Type) {
  const CXXRecordDecl *Record = strip(Type);
  return Record && ast::nameOf(Record) == "optional";
}

StringRef scalarName(StringRef Constant) {
  return llvm::StringSwitch<StringRef>(Constant)
      .Cases("kFloat", "kFloat32", "kF32", "Float")
      .Cases("kDouble", "kFloat64", "kF64", "Double")
      .Cases("kHalf", "kFloat16", "kF16", "Half")
      .Cases("kByte", "kUInt8", "kU8", "Byte")
      .Cases("kChar", "kInt8", "kI8", "Char")
      .Cases("kShort", "kInt16", "kI16", "Short")
      .Cases("kInt", "kInt32", "kI32", "Int")
      .Cases("kLong", "kInt64", "kI64", "Long")
      .Case("kU16", "UInt16")
      .Case("kU32", "UInt32")
      .Case("kU64", "UInt64")
      .Default(Constant.starts_with("k") ? Constant.drop_front() : Constant);
}

static bool isOfLibTorch(const CXXRecordDecl *Record, StringRef Name) {
  return Record && ast::nameOf(Record) == Name && isLibTorch(Record);
}

bool isArrayRef(const CXXRecordDecl *Record) {
  return isOfLibTorch(Record, "ArrayRef");
}

bool isOrderedDict(const CXXRecordDecl *Record) {
  return isOfLibTorch(Record, "OrderedDict");
}

bool isItem(const CXXRecordDecl *Record) {
  return isOfLibTorch(Record, "Item");
}

bool isPair(const CXXRecordDecl *Record) {
  return Record && isStd(Record) && ast::nameOf(Record) == "pair";
}

bool isArray(const CXXRecordDecl *Record) {
  return Record && isStd(Record) && ast::nameOf(Record) == "array";
}

bool isInferenceMode(const CXXRecordDecl *Record) {
  return ast::nameOf(Record) == "InferenceMode";
}

bool holdsItsElements(QualType Type) {
  const TypeKind Kind = kindOf(Type);
  // std::tie(a, b) has references.
  if (Kind == TypeKind::Aggregate)
    return llvm::none_of(tupleTypes(Type),
                         [](QualType Part) { return Part->isReferenceType(); });
  const StringRef Name = ast::nameOf(strip(Type));
  return Kind == TypeKind::Container && Name != "List" && Name != "Dict" &&
         Name != "ArrayRef";
}

bool isDevice(QualType Type) { return isOfLibTorch(strip(Type), "Device"); }

bool isIndex(QualType Type) { return isOfLibTorch(strip(Type), "TensorIndex"); }

bool isTensorOptions(QualType Type) {
  return isOfLibTorch(strip(Type), "TensorOptions");
}

bool isOldOptions(QualType Type) {
  return isOfLibTorch(strip(Type), "DeprecatedTypeProperties");
}

const CXXRecordDecl *moduleClass(QualType Type) {
  for (unsigned I = 0; I < 3 && !Type.isNull(); ++I) {
    const CXXRecordDecl *Record = strip(Type);
    TypeKind Kind = kindOf(Record);
    if (Kind == TypeKind::Module || Kind == TypeKind::ScriptModule)
      return Record;
    if (Kind != TypeKind::Pointer && Kind != TypeKind::ModuleHolder)
      return nullptr;
    Type = pointee(Type);
  }
  return nullptr;
}

namespace {

/// Asks a question of a module class and, for a user's class, of its members
/// and bases. Modules may hold each other.
class ModuleQuestion {
public:
  using Answer = Parameters (*)(StringRef Name);

  explicit ModuleQuestion(Answer OfLibrary) : OfLibrary(OfLibrary) {}

  /// Of an object that is seen as one of this class: behind an interface may
  /// stand anything that implements it.
  Parameters askOfObject(const CXXRecordDecl *Module) {
    const Parameters Result = ask(Module);
    const CXXRecordDecl *Definition =
        Module ? Module->getDefinition() : nullptr;
    return Result == Parameters::None && Definition && Definition->isAbstract()
               ? Parameters::Unknown
               : Result;
  }

  Parameters ask(const CXXRecordDecl *Module) {
    if (!Module)
      return Parameters::Unknown;
    if (isLibTorch(Module)) {
      StringRef Name = ast::nameOf(Module);
      Name.consume_back("Impl");
      return OfLibrary(Name);
    }
    const CXXRecordDecl *Definition = Module->getDefinition();
    if (!Definition)
      return Parameters::Unknown;
    if (!Asked.insert(Definition).second)
      return Parameters::None;
    Parameters Result = Parameters::None;
    auto Add = [&](Parameters Part) {
      if (Result != Parameters::Some && Part != Parameters::None)
        Result = Part;
    };
    for (const FieldDecl *Field : Definition->fields()) {
      QualType Type = Field->getType();
      if (QualType Element = elementType(Type); !Element.isNull())
        Type = Element;
      if (const CXXRecordDecl *Member = moduleClass(Type))
        Add(ask(Member));
      else if (isTensor(Type))
        Add(Parameters::Unknown);
    }
    for (const CXXBaseSpecifier &Base : Definition->bases()) {
      const CXXRecordDecl *Record = strip(Base.getType());
      if (Record && !isLibTorch(Record) && kindOf(Record) == TypeKind::Module)
        Add(ask(Record));
    }
    return Result;
  }

private:
  Answer OfLibrary;
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Asked;
};

} // namespace

static bool startsWithAny(StringRef Name,
                          std::initializer_list<StringRef> Prefixes) {
  return llvm::any_of(
      Prefixes, [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

Parameters parametersOf(const CXXRecordDecl *Module) {
  return ModuleQuestion([](StringRef Name) {
           if (startsWithAny(Name,
                             {"Linear", "Bilinear", "Conv", "Embedding", "LSTM",
                              "GRU", "RNN", "BatchNorm", "LayerNorm",
                              "GroupNorm", "MultiheadAttention", "Transformer",
                              "PReLU", "AdaptiveLogSoftmaxWithLoss"}))
             return Parameters::Some;
           // Containers, torch::jit::Module and the base class could hold
           // anything.
           if (startsWithAny(Name, {"Sequential", "Module", "Method", "Object",
                                    "Any", "ParameterList", "ParameterDict",
                                    "InstanceNorm"}))
             return Parameters::Unknown;
           return Parameters::None;
         })
      .askOfObject(Module);
}

Parameters modeDependence(const CXXRecordDecl *Module) {
  return ModuleQuestion([](StringRef Name) {
           if (Name.contains("Dropout") || Name == "RReLU" ||
               Name.starts_with("BatchNorm"))
             return Parameters::Some;
           // What has a dropout, or keeps statistics, only where it is told to.
           if (startsWithAny(Name, {"Sequential", "Module", "Method", "Object",
                                    "Any", "LSTM", "GRU", "RNN", "Transformer",
                                    "MultiheadAttention", "InstanceNorm"}))
             return Parameters::Unknown;
           return Parameters::None;
         })
      .askOfObject(Module);
}

static bool mayHold(QualType Type, unsigned Depth, RecordSet &Seen);

static bool anyArgumentMayHold(llvm::ArrayRef<TemplateArgument> Arguments,
                               unsigned Depth, RecordSet &Seen) {
  return llvm::any_of(Arguments, [&](const TemplateArgument &Argument) {
    if (Argument.getKind() == TemplateArgument::Type)
      return mayHold(Argument.getAsType(), Depth + 1, Seen);
    return Argument.getKind() == TemplateArgument::Pack &&
           anyArgumentMayHold(Argument.pack_elements(), Depth, Seen);
  });
}

static bool mayHold(QualType Type, unsigned Depth, RecordSet &Seen) {
  if (Type.isNull() || Type->isDependentType() || Depth > 5)
    return true;
  Type = Type.getNonReferenceType();
  while (Type->isPointerType() || Type->isArrayType())
    Type = Type->isPointerType()
               ? Type->getPointeeType()
               : Type->getAsArrayTypeUnsafe()->getElementType();
  if (!Type->isRecordType())
    return Type->isVoidType() || Type->isFunctionType();
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  // One that has been looked at held none.
  if (!Record || !Seen.insert(Record->getCanonicalDecl()).second)
    return false;
  switch (kindOf(Record)) {
  case TypeKind::Tensor:
  case TypeKind::Module:
  case TypeKind::ModuleHolder:
  case TypeKind::ScriptModule:
  case TypeKind::IValue:
  case TypeKind::Optimizer:
  case TypeKind::Callable:
    return true;
  case TypeKind::Container:
  case TypeKind::Aggregate:
  case TypeKind::Pointer:
    if (const auto *Specialization =
            dyn_cast<ClassTemplateSpecializationDecl>(Record))
      return anyArgumentMayHold(Specialization->getTemplateArgs().asArray(),
                                Depth, Seen);
    return true;
  default:
    break;
  }
  if (isStd(Record)) {
    StringRef Name = ast::nameOf(Record);
    if (Name == "any")
      return true;
    const auto *Specialization =
        dyn_cast<ClassTemplateSpecializationDecl>(Record);
    const bool CarriesItsArguments =
        llvm::StringSwitch<bool>(Name)
            .Cases("variant", "initializer_list", "promise", true)
            .Cases("future", "shared_future", true)
            .Default(false);
    return Specialization && CarriesItsArguments &&
           anyArgumentMayHold(Specialization->getTemplateArgs().asArray(),
                              Depth, Seen);
  }
  const CXXRecordDecl *Definition = Record->getDefinition();
  if (!Definition)
    return true;
  for (const FieldDecl *Field : Definition->fields())
    if (mayHold(Field->getType(), Depth + 1, Seen))
      return true;
  for (const CXXBaseSpecifier &Base : Definition->bases())
    if (mayHold(Base.getType(), Depth + 1, Seen))
      return true;
  return false;
}

bool ownsNothing(QualType Type) {
  if (Type.isNull() || Type->isPointerType() || Type->isReferenceType())
    return true;
  return llvm::StringSwitch<bool>(ast::nameOf(Type->getAsCXXRecordDecl()))
      .Cases("ArrayRef", "MutableArrayRef", "OptionalArrayRef", true)
      .Cases("TensorAccessor", "TensorAccessorBase", true)
      .Cases("GenericPackedTensorAccessor", "GenericPackedTensorAccessorBase",
             "PackedTensorAccessor", true)
      .Cases("basic_string_view", "span", "initializer_list", true)
      .Case("reference_wrapper", true)
      .Default(false);
}

bool mayBorrow(QualType Type) {
  if (ownsNothing(Type) || Type->isDependentType())
    return true;
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  return Record && (Record->isLambda() || kindOf(Record) == TypeKind::Thread ||
                    kindOf(Record) == TypeKind::Callable || isPicture(Type) ||
                    mayHoldTensor(Type));
}

bool mayHoldTensor(QualType Type) {
  RecordSet Seen;
  return mayHold(Type, 0, Seen);
}

} // namespace torchtidy::torch

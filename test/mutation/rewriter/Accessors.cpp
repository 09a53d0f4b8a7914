// Elements that are read and written through an accessor are read by item() and
// written by operations on the tensor.
#include "Calls.h"
#include "Operators.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

/// The number of dimensions of an accessor, 0 of another type.
unsigned dimensions(QualType Type) {
  const auto *Record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!Record || !Record->getName().contains("TensorAccessor"))
    return 0;
  for (const TemplateArgument &Each : Record->getTemplateArgs().asArray())
    if (Each.getKind() == TemplateArgument::Integral)
      return unsigned(Each.getAsIntegral().getExtValue());
  return 0;
}

const CXXMemberCallExpr *accessorCall(const VarDecl *Variable) {
  const Expr *Init = Variable->getInit();
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(
      Init ? plain(Init)->IgnoreUnlessSpelledInSource() : nullptr);
  return methodName(Call) == "accessor" && isOfTensor(Call) ? Call : nullptr;
}

class Adapter {
public:
  Adapter(const Program &Whole, std::string Type)
      : Whole(Whole), Type(std::move(Type)) {}

  /// Adapts all uses of an accessor; Name: the tensor in its place, or "" where
  /// the variable itself becomes one.
  bool adapt(const VarDecl *Variable, const std::string &Name) {
    return llvm::all_of(Whole.uses(Variable), [&](const Use &Each) {
      if (!Name.empty() && !replace(Each.Node->getSourceRange(), Name))
        return false;
      return adaptUse(*Each.In, Each.Node, dimensions(Variable->getType()));
    });
  }

  std::vector<Edit> Edits;
  /// The statements in loops that read and write elements.
  std::vector<Piece> InLoops;

private:
  bool replace(SourceRange Range, const std::string &Text) {
    auto Where = Whole.piece(Range);
    if (Where)
      Edits.push_back({*Where, Text});
    return Where.has_value();
  }

  void addIfInLoop(const Function &In, const Expr *Access) {
    if (!In.loops(Access).empty())
      if (auto Where = Whole.piece(Access->getSourceRange()))
        InLoops.push_back(*Where);
  }

  bool adaptUse(const Function &In, const Expr *Value, unsigned Left) {
    while (const auto *Up = dyn_cast_or_null<Expr>(In.parent(Value))) {
      const auto *Index = dyn_cast<CXXOperatorCallExpr>(Up);
      if (Index && Index->getOperator() == OO_Subscript &&
          Index->getArg(0) == Value)
        --Left;
      else if (!isa<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr,
                    ExprWithCleanups>(Up))
        break;
      Value = Up;
      if (Left == 0)
        return adaptElement(In, Value);
    }
    // `auto row = a[i];`, `a.size(0)`.
    if (const VarDecl *Row = declaredWith(In, Value)) {
      addIfInLoop(In, Value);
      return Row->getTypeSourceInfo()->getType()->getContainedAutoType() &&
             !Row->getType()->isReferenceType() && adapt(Row, "");
    }
    const auto *Member = dyn_cast_or_null<MemberExpr>(In.parent(Value));
    return Member && Member->getMemberDecl()->getIdentifier() &&
           Member->getMemberDecl()->getName() == "size";
  }

  bool adaptElement(const Function &In, const Expr *Element) {
    const Stmt *Up = In.parent(Element);
    while (isa_and_nonnull<ParenExpr>(Up))
      Up = In.parent(Up);
    addIfInLoop(In, Element);
    const auto *Binary = dyn_cast_or_null<BinaryOperator>(Up);
    if (Binary && Binary->isAssignmentOp() && Binary->getLHS() == Element) {
      const Stmt *Around = In.parent(Binary);
      if (isa_and_nonnull<ExprWithCleanups>(Around))
        Around = In.parent(Around);
      return Binary->getOpcode() <= BO_SubAssign &&
             isa_and_nonnull<CompoundStmt, ForStmt, CXXForRangeStmt, IfStmt>(
                 Around);
    }
    const auto *Unary = dyn_cast_or_null<UnaryOperator>(Up);
    if (Unary && Unary->isIncrementDecrementOp())
      return adaptCount(Unary, Element);
    if (Unary && Unary->getOpcode() == UO_AddrOf)
      return false;
    // A reference to the element is one to nothing afterwards.
    if (const VarDecl *Bound = declaredWith(In, Element))
      if (Bound->getType()->isReferenceType())
        return false;
    auto Read = behind(Whole, Element, ".item<" + Type + ">()");
    if (Read)
      Edits.push_back(*Read);
    return Read.has_value();
  }

  /// `++a[i]` -> `t[i] += 1`.
  bool adaptCount(const UnaryOperator *Count, const Expr *Element) {
    auto All = Whole.piece(Count->getSourceRange());
    auto Own = Whole.piece(Element->getSourceRange());
    auto Behind =
        behind(Whole, Count, Count->isIncrementOp() ? " += 1" : " -= 1");
    if (!All || !Own || !Behind)
      return false;
    if (Count->isPrefix()) {
      Edits.push_back(
          {{All->File, All->Offset, Own->Offset - All->Offset}, ""});
      Edits.push_back(*Behind);
    } else {
      Edits.push_back(
          {{All->File, Own->end(), All->end() - Own->end()}, Behind->Text});
    }
    return true;
  }

  const Program &Whole;
  std::string Type;
};

/// The type as it is written: `accessor<int64_t, 1>()`.
std::string elementType(const Program &Whole, const CXXMemberCallExpr *Call) {
  const auto *Callee = dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParens());
  return Callee && Callee->getNumTemplateArgs() > 0
             ? Whole.text(Callee->getTemplateArgs()[0].getSourceRange())
             : "";
}

} // namespace

void replaceAccessors(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Declaration = dyn_cast<DeclStmt>(S);
      const auto *Variable =
          Declaration && Declaration->isSingleDecl()
              ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
              : nullptr;
      const CXXMemberCallExpr *Call =
          Variable ? accessorCall(Variable) : nullptr;
      if (!Call || !placeOf(Call->getImplicitObjectArgument()))
        return;
      std::string Tensor =
          Whole.text(Call->getImplicitObjectArgument()->getSourceRange());
      std::string Type = elementType(Whole, Call);
      auto Removed = Whole.removal(In, Declaration);
      auto Point = Whole.piece(Declaration->getSourceRange());
      Adapter Uses(Whole, Type);
      if (Tensor.empty() || Type.empty() || !Removed || !Point ||
          !Uses.adapt(Variable, Tensor) || Uses.InLoops.empty())
        return;
      Uses.Edits.push_back(*Removed);
      Out.push_back({"accessor",
                     {"torch-element-access-in-loop"},
                     *Point,
                     "elements are read and written one at a time",
                     std::move(Uses.Edits),
                     std::move(Uses.InLoops)});
    });
}

} // namespace torchtidy::mutation

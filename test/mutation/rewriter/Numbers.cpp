// Turns a number that is stored into the tensor it was read from, and adapts
// the declaration and the other uses of the place so that the program still
// compiles.
#include "Operators.h"
#include "Stores.h"

#include "clang/AST/TypeLoc.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

class Adapter {
public:
  Adapter(const Program &Whole, const Function &In, const Store &Stored,
          const CXXMemberCallExpr *Item)
      : Whole(Whole), In(In), Stored(Stored), Item(Item) {}

  /// The edits, or none where the place cannot be adapted.
  std::optional<std::vector<Edit>> adapt() {
    auto Object =
        Whole.piece(Item->getImplicitObjectArgument()->getSourceRange());
    auto All = Whole.piece(Item->getSourceRange());
    if (!Object || !All)
      return std::nullopt;
    Edits.push_back(
        {{All->File, Object->end(), All->end() - Object->end()}, ""});
    const auto *Place = dyn_cast<DeclaratorDecl>(Stored.Place);
    if (!Place || isa<ParmVarDecl>(Place))
      return std::nullopt;
    if (Place->getType()->isRealFloatingType()) {
      Number = Place->getType().getUnqualifiedType().getAsString();
      if (!declareTensor(Place) || !adaptUses(Place, &Adapter::adaptNumber))
        return std::nullopt;
    } else if (!declareTensors(Place) ||
               !adaptUses(Place, &Adapter::adaptElements)) {
      return std::nullopt;
    }
    return Edits;
  }

private:
  std::string itemCall() const { return ".item<" + Number + ">()"; }

  bool replace(SourceRange Range, std::string Text) {
    auto Where = Whole.piece(Range);
    if (!Where)
      return false;
    for (const Edit &Each : Edits) {
      if (Each.Where == *Where && Each.Text == Text)
        return true;
      if (Each.Where.Offset < Where->end() && Where->Offset < Each.Where.end())
        return false;
    }
    Edits.push_back({*Where, std::move(Text)});
    return true;
  }

  bool append(const Expr *To, const std::string &Text) {
    auto Where = Whole.piece(To->getSourceRange());
    if (!Where)
      return false;
    Piece Behind{Where->File, Where->end(), 0};
    for (const Edit &Each : Edits)
      if (Each.Where == Behind)
        return Each.Text == Text;
    Edits.push_back({Behind, Text});
    return true;
  }

  std::string tensorOf(const Expr *Init) {
    std::string Text = Init ? Whole.text(Init->getSourceRange()) : "";
    if (const auto *List = dyn_cast_or_null<InitListExpr>(Init))
      Text = List->getNumInits() == 1
                 ? Whole.text(List->getInit(0)->getSourceRange())
                 : "";
    bool Zero =
        Text.empty() || Text.find_first_not_of("0.fF{}") == std::string::npos;
    return Zero ? "torch::zeros({})" : "torch::full({}, double(" + Text + "))";
  }

  /// `double a = 0, b = 1;` -> `double b = 1; torch::Tensor a = ...;`
  bool declareTensor(const DeclaratorDecl *Place) {
    if (const auto *Field = dyn_cast<FieldDecl>(Place)) {
      for (const FieldDecl *Other : Field->getParent()->fields())
        if (Other != Field && Other->getBeginLoc() == Field->getBeginLoc())
          return false;
      return replace(Field->getSourceRange(),
                     "torch::Tensor " + Field->getNameAsString() + " = " +
                         tensorOf(Field->getInClassInitializer()));
    }
    const auto *Variable = cast<VarDecl>(Place);
    const DeclStmt *Declaration = nullptr;
    forEach(In.body(), [&](const Stmt *S) {
      if (const auto *D = dyn_cast<DeclStmt>(S))
        if (llvm::is_contained(D->decls(), Variable))
          Declaration = D;
    });
    if (!Declaration || !isa_and_nonnull<CompoundStmt>(In.parent(Declaration)))
      return false;
    std::string Text = Variable->isStaticLocal() ? "static " : "";
    for (const Decl *Each : Declaration->decls()) {
      const auto *Other = cast<VarDecl>(Each);
      if (Other == Variable)
        continue;
      Text += Other->getType().getAsString() + " " + Other->getNameAsString();
      if (Other->getInit())
        Text += " = " + Whole.text(Other->getInit()->getSourceRange());
      Text += "; ";
    }
    Text += "torch::Tensor " + Variable->getNameAsString() + " = " +
            tensorOf(Variable->getInit()) + ";";
    return replace(Declaration->getSourceRange(), Text);
  }

  /// `std::vector<double>` -> `std::vector<torch::Tensor>`.
  bool declareTensors(const DeclaratorDecl *Place) {
    const TypeSourceInfo *Info = Place->getTypeSourceInfo();
    TypeLoc Loc = Info ? Info->getTypeLoc() : TypeLoc();
    while (!Loc.isNull()) {
      if (auto Template = Loc.getAs<TemplateSpecializationTypeLoc>()) {
        for (unsigned I = 0; I < Template.getNumArgs(); ++I) {
          TemplateArgumentLoc Argument = Template.getArgLoc(I);
          if (Argument.getArgument().getKind() != TemplateArgument::Type ||
              !Argument.getArgument().getAsType()->isRealFloatingType())
            continue;
          Number = Argument.getArgument().getAsType().getAsString();
          return replace(Argument.getSourceRange(), "torch::Tensor");
        }
        return false;
      }
      Loc = Loc.getNextTypeLoc();
    }
    return false;
  }

  bool adaptUses(const ValueDecl *Place, bool (Adapter::*Adapt)(const Use &)) {
    for (const Use &Each : Whole.uses(Place)) {
      if (Each.In->contains(Stored.Target, Each.Node) && Each.In == &In)
        continue;
      if (!(this->*Adapt)(Each))
        return false;
    }
    return true;
  }

  const Stmt *outer(const Use &Each, const Stmt *&Child) const {
    Child = Each.Node;
    const Stmt *Up = Each.In->parent(Child);
    while (isa_and_nonnull<ParenExpr>(Up))
      Up = Each.In->parent(Child = Up);
    return Up;
  }

  bool adaptNumber(const Use &Each) {
    // `mean = 0.9 * mean + loss`: all of it is of tensors now.
    if (Each.In == &In && In.contains(Stored.By, Each.Node))
      return true;
    const Stmt *Child;
    const Stmt *Up = outer(Each, Child);
    const auto *Operator = dyn_cast_or_null<BinaryOperator>(Up);
    if (Operator && Operator->isAssignmentOp() && Operator->getLHS() == Child) {
      if (Operator->getOpcode() != BO_Assign)
        return true; // Tensor += number.
      if (isa<CXXMemberCallExpr>(plain(Operator->getRHS())))
        return replace(Operator->getRHS()->getSourceRange(),
                       "torch::full({}, " +
                           Whole.text(Operator->getRHS()->getSourceRange()) +
                           ")");
      return replace(Operator->getRHS()->getSourceRange(),
                     tensorOf(Operator->getRHS()));
    }
    const auto *Cast = dyn_cast_or_null<ImplicitCastExpr>(Up);
    // Read, or bound to a const reference.
    if (Cast && (Cast->getCastKind() == CK_LValueToRValue ||
                 Cast->getCastKind() == CK_NoOp))
      return append(Each.Node, itemCall());
    return false;
  }

  bool adaptElements(const Use &Each) {
    const Stmt *Child;
    const Stmt *Up = outer(Each, Child);
    if (const auto *Member = dyn_cast_or_null<MemberExpr>(Up)) {
      const auto *Call =
          dyn_cast_or_null<CXXMemberCallExpr>(Each.In->parent(Member));
      return Call && adaptMethod(Each, Call);
    }
    while (isa_and_nonnull<ImplicitCastExpr, CXXConstructExpr,
                           MaterializeTemporaryExpr, CXXBindTemporaryExpr,
                           InitListExpr, CXXStdInitializerListExpr>(Up))
      Up = Each.In->parent(Child = Up);
    if (const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(Up))
      return Call->getOperator() != OO_Subscript || adaptElement(Each, Call);
    if (const auto *Call = dyn_cast_or_null<CallExpr>(Up)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (Callee && Callee->getIdentifier() && Callee->getName() == "tensor")
        return replace(Call->getCallee()->getSourceRange(), "torch::stack");
      return true; // The compiler decides.
    }
    if (const auto *Loop = dyn_cast_or_null<CXXForRangeStmt>(Up))
      return adaptLoop(Loop);
    return true;
  }

  bool adaptMethod(const Use &Each, const CXXMemberCallExpr *Call) {
    llvm::StringRef Name = methodName(Call);
    if (Name == "back" || Name == "front" || Name == "at")
      return adaptElement(Each, Call);
    if (Name == "begin" || Name == "cbegin")
      for (const Stmt *Up = Each.In->parent(Call); Up && !isa<CompoundStmt>(Up);
           Up = Each.In->parent(Up))
        if (const auto *Sum = dyn_cast<CallExpr>(Up))
          if (const FunctionDecl *Callee = Sum->getDirectCallee();
              Callee && Callee->getIdentifier() &&
              Callee->getName() == "accumulate")
            return replace(Sum->getSourceRange(),
                           "torch::stack(" +
                               Whole.text(Each.Node->getSourceRange()) +
                               ").sum()" + itemCall());
    if ((Name == "end" || Name == "cend") && Each.In->enclosing<CallExpr>(Call))
      return true;
    if (Name == "push_back" && Call->getNumArgs() == 1)
      return replace(Call->getArg(0)->getSourceRange(),
                     "torch::full({}, double(" +
                         Whole.text(Call->getArg(0)->getSourceRange()) + "))");
    return true;
  }

  /// An element that is read.
  bool adaptElement(const Use &Each, const Expr *Element) {
    const auto *Cast =
        dyn_cast_or_null<ImplicitCastExpr>(Each.In->parent(Element));
    if (Cast && (Cast->getCastKind() == CK_LValueToRValue ||
                 Cast->getCastKind() == CK_NoOp))
      return append(Element, itemCall());
    return true;
  }

  bool adaptLoop(const CXXForRangeStmt *Loop) {
    const VarDecl *Element = Loop->getLoopVariable();
    auto Type = Element->getTypeSourceInfo()->getTypeLoc();
    if (!replace(SourceRange(Element->getBeginLoc(), Type.getEndLoc()),
                 "const auto &"))
      return false;
    for (const Use &Each : Whole.uses(Element))
      if (!adaptNumber(Each))
        return false;
    return true;
  }

  const Program &Whole;
  const Function &In;
  const Store &Stored;
  const CXXMemberCallExpr *Item;
  std::string Number;
  std::vector<Edit> Edits;
};

} // namespace

void removeItem(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (!Call || methodName(Call) != "item" ||
          !isTensor(Call->getObjectType()))
        return;
      // Whole numbers are counts; nothing that has a gradient is read as one.
      if (Call->getType()->isIntegralType(Whole.context()))
        return;
      auto Stored = storeOf(Whole, In, Call, false);
      if (!Stored || !Stored->Place || Stored->How == Store::Return ||
          !outlivesIteration(In, Stored->Target, Stored->Place, Stored->By))
        return;
      auto Where = Whole.piece(Stored->By->getSourceRange());
      auto Edits = Adapter(Whole, In, *Stored, Call).adapt();
      if (!Where || !Edits)
        return;
      Out.push_back({"item",
                     {"torch-retained-graph", "torch-undetached-hidden-state"},
                     *Where,
                     "a tensor is stored in place of the number",
                     std::move(*Edits),
                     {*Where}});
    });
}

} // namespace torchtidy::mutation

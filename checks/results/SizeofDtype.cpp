#include "results/SizeofDtype.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Options.h"
#include "torch/Scalars.h"
#include "torch/Types.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace torchtidy::model {

namespace {

bool saysDtype(QualType Type) {
  Type = Type.getNonReferenceType();
  return !Type.isNull() && !Type->isDependentType() &&
         (torch::isScalarType(Type) ||
          (Type->isRecordType() && torch::isTypeMeta(Type)));
}

/// A variable or member of this type that stands for a template's parameter
/// may be an object like any other.
bool isOfTemplate(QualType Type) {
  return Type.getNonReferenceType()->getAs<SubstTemplateTypeParmType>();
}

/// The address of an object that says a type is taken somewhere in E: it is
/// written or read as such.
bool takesAddress(const Expr *E) {
  return ast::anyStmt(
      E,
      [](const Stmt *S) {
        const auto *Unary = dyn_cast<UnaryOperator>(S);
        return Unary && Unary->getOpcode() == UO_AddrOf &&
               saysDtype(Unary->getSubExpr()->getType());
      },
      ast::Lambdas::Skip);
}

/// Goes over what the file declares, with the statements around each.
class Finder : public RecursiveASTVisitor<Finder> {
  using Base = RecursiveASTVisitor<Finder>;

public:
  Finder(Program &User, std::vector<SizeofDtype> &Found)
      : User(User), Found(Found) {}

  bool TraverseStmt(Stmt *S) {
    if (!S)
      return true;
    Around.push_back(S);
    const bool Goes = Base::TraverseStmt(S);
    Around.pop_back();
    return Goes;
  }
  bool TraverseDecl(Decl *D) {
    // Patterns stand for what is made of them.
    const auto *V = dyn_cast_or_null<VarDecl>(D);
    const bool IsConstant = V && (V->isConstexpr() || V->isStaticDataMember());
    const bool Before = InConstant;
    InConstant |= IsConstant || isa_and_nonnull<StaticAssertDecl>(D) ||
                  isa_and_nonnull<EnumConstantDecl>(D);
    const bool Goes = Base::TraverseDecl(D);
    InConstant = Before;
    return Goes;
  }
  bool TraverseTypeLoc(TypeLoc Type) {
    const bool Before = std::exchange(InConstant, true);
    const bool Goes = Base::TraverseTypeLoc(Type);
    InConstant = Before;
    return Goes;
  }
  bool TraverseTemplateArgumentLoc(const TemplateArgumentLoc &Argument) {
    const bool Before = std::exchange(InConstant, true);
    const bool Goes = Base::TraverseTemplateArgumentLoc(Argument);
    InConstant = Before;
    return Goes;
  }

  bool VisitUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *E) {
    if (E->getKind() == UETT_SizeOf && !E->isArgumentType() &&
        !E->isTypeDependent() && !E->isValueDependent())
      judge(E);
    return true;
  }

private:
  enum class Use { Product, Sum, Argument, Other };

  void judge(const UnaryExprOrTypeTraitExpr *E) {
    const Expr *Operand = E->getArgumentExpr()->IgnoreUnlessSpelledInSource();
    const QualType Type = Operand->getType();
    if (!saysDtype(Type))
      return;
    SizeofDtype Result;
    Result.Site = E;
    Result.Operand = Operand;
    Result.IsMeta = !torch::isScalarType(Type.getNonReferenceType());
    Result.MustBeConstant = InConstant || isInConstantExpression();
    Result.Yields = User.context().getTypeSizeInChars(Type).getQuantity();
    const ValueDecl *Named = declared(Operand);
    if (Named && torch::isLibTorch(Named) && !isa<FieldDecl>(Named)) {
      Result.Scalar = torch::scalarName(Named->getName());
      Result.Element = torch::scalarSize(Result.Scalar);
      Result.IsStrictOnly = Result.Element == Result.Yields;
    } else if (!meansElements(Operand, Named, E)) {
      return;
    }
    Found.push_back(Result);
  }

  static const ValueDecl *declared(const Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member ? Member->getMemberDecl() : nullptr;
  }

  bool meansElements(const Expr *Operand, const ValueDecl *Named,
                     const Expr *Site) {
    const Use Of = useOf(Site);
    if (Of == Use::Argument)
      return false;
    if (Named) {
      // A constant of the user's own is nothing that is written to a file.
      const auto *V = dyn_cast<VarDecl>(Named);
      return (V && V->isConstexpr()) ||
             (Of == Use::Product && !isOfTemplate(Named->getType()));
    }
    // x.scalar_type() has no address.
    return isa<CallExpr>(Operand) && Operand->isPRValue() && Of != Use::Sum;
  }

  /// What becomes of the size at Site, the last of Around.
  Use useOf(const Expr *Site) const {
    const Expr *Child = Site;
    bool IsProduct = false;
    for (const Stmt *S : llvm::drop_begin(llvm::reverse(Around))) {
      const auto *E = dyn_cast<Expr>(S);
      if (!E)
        break;
      if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
        // key << 8 * sizeof(type): the bits of the object itself.
        if (Binary->isShiftOp() || Binary->isShiftAssignOp())
          return Use::Sum;
        if (Binary->isMultiplicativeOp() ||
            Binary->getOpcode() == BO_MulAssign ||
            Binary->getOpcode() == BO_DivAssign) {
          const Expr *Other =
              Binary->getLHS() == Child ? Binary->getRHS() : Binary->getLHS();
          IsProduct |= !isa<IntegerLiteral>(ast::strip(Other));
        } else if (!IsProduct) {
          return Use::Sum;
        }
      } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
        if (llvm::any_of(Call->arguments(), takesAddress))
          return Use::Argument;
        break;
      } else if (!isa<ParenExpr, CastExpr, FullExpr>(E)) {
        break;
      }
      Child = E;
    }
    return IsProduct ? Use::Product : Use::Other;
  }

  bool isInConstantExpression() const {
    return llvm::any_of(Around, llvm::IsaPred<ConstantExpr>);
  }

  Program &User;
  std::vector<SizeofDtype> &Found;
  llvm::SmallVector<const Stmt *, 16> Around;
  bool InConstant = false;
};

} // namespace

std::vector<SizeofDtype> sizesOfDtypes(Program &Program) {
  std::vector<SizeofDtype> Result;
  Finder Find(Program, Result);
  const flow::UserFunctions &Functions = Program.code().functions();
  for (Decl *Top : Program.context().getTraversalScope()) {
    const auto *Unit = dyn_cast<TranslationUnitDecl>(Top);
    if (!Unit) {
      if (Functions.isUserCode(Top->getLocation()))
        Find.TraverseDecl(Top);
      continue;
    }
    for (Decl *D : Unit->decls())
      if (Functions.isUserCode(D->getLocation()))
        Find.TraverseDecl(D);
  }
  return Result;
}

} // namespace torchtidy::model

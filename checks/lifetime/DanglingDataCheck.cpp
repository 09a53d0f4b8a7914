// Finds pointers, references and lists that lead into objects which are gone:
// data and sizes of temporary tensors, ArrayRef over temporary lists, parts of
// temporary results.
#include "lifetime/DanglingDataCheck.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "lifetime/DanglingData.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSet.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// The expression that makes what is gone; null where it has a name.
static const Expr *madeBy(const OutlivedLoan &Found) {
  const PlaceTable &Places = Found.Entry->places();
  const PlaceId RootPlace = Places.rootOf(Found.Taken->Owner);
  if (Places.rootKind(RootPlace) != Root::Object ||
      Found.End->How != EndKind::FullExpression)
    return nullptr;
  return Found.End->Site;
}

/// What happens to a pointer (Noun) that leads nowhere.
static std::string use(const OutlivedLoan &Found, const std::string &Noun) {
  if (Found.Touch)
    return Noun + "is used afterwards";
  if (isReturned(Found))
    return Noun + "is returned";
  const std::string Name = Found.Entry->places().name(Found.Hold->Holder);
  return Noun + "is kept" + (Name.empty() ? "" : " in '" + Name + "'");
}

static std::string message(const Program &Program, const OutlivedLoan &Found) {
  const Expr *Site = Found.Taken->Site;
  const std::string Owner = Found.Entry->places().name(Found.Taken->Owner);
  if (isa<CXXConstructExpr>(Site)) {
    if (madeBy(Found))
      return "'ArrayRef' refers to a temporary list that ends with the "
             "statement, and " +
             use(Found, "") + "; use a 'std::vector'";
    return "'ArrayRef' refers to '" + Owner + "', which " +
           (Found.End->How == EndKind::Reallocation ? "is given other elements"
                                                    : "ends with its scope") +
           ", and " + use(Found, "") + "; use a 'std::vector'";
  }
  const auto *Call = cast<CallExpr>(Site);
  const Expr *Object = ast::objectOf(Call);
  const std::string Name = "'" + calleeText(Program, Call) + "'";
  if (!Object || !torch::isTensor(Object->getType()))
    return Name +
           " refers into a temporary result that ends with the statement, "
           "and " +
           use(Found, "") + "; give the result a name";
  const bool IsPointer = Call->getType()->isPointerType();
  // A name would end with the function.
  const std::string Copy =
      "; copy the " + std::string(IsPointer ? "elements" : "list");
  const std::string Use = use(Found, IsPointer ? "the pointer " : "the list ");
  if (!madeBy(Found))
    return Name + " of '" + Owner + "', which " +
           (Found.End->How == EndKind::Reallocation ? "gets other memory"
                                                    : "ends with its scope") +
           ", and " + Use + (Found.Touch ? "; take it anew" : Copy) +
           ", or keep the tensor";
  return Name + " of a temporary tensor: " +
         (IsPointer ? "its memory is freed" : "they are freed with it") +
         " at the end of the statement, and " + Use +
         (Found.Touch ? "; give the tensor a name"
                      : Copy + ", or keep the tensor");
}

static FindingKind kindOf(const OutlivedLoan &Found) {
  const Expr *Site = Found.Taken->Site;
  if (isa<CXXConstructExpr>(Site))
    return FindingKind::DanglingArrayRef;
  const Expr *Object = ast::objectOf(cast<CallExpr>(Site));
  if (!Object || !torch::isTensor(Object->getType()))
    return FindingKind::DanglingPart;
  return Site->getType()->isPointerType() ? FindingKind::DanglingPointer
                                          : FindingKind::DanglingList;
}

/// What is declared or assigned to by the statement around a call.
static std::string nameOfResult(const Stmt *Statement) {
  if (const auto *Loop = dyn_cast_or_null<CXXForRangeStmt>(Statement))
    return Loop->getLoopVariable()->getNameAsString();
  if (const auto *Declaration = dyn_cast_or_null<DeclStmt>(Statement)) {
    const auto *V = Declaration->isSingleDecl()
                        ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                        : nullptr;
    return V ? V->getNameAsString() : "";
  }
  const auto *E = dyn_cast_or_null<Expr>(Statement);
  const auto *Assign =
      E ? dyn_cast<BinaryOperator>(E->IgnoreImplicit()) : nullptr;
  const auto *To =
      Assign && Assign->isAssignmentOp()
          ? dyn_cast<DeclRefExpr>(Assign->getLHS()->IgnoreParenImpCasts())
          : nullptr;
  return To ? To->getDecl()->getNameAsString() : "";
}

/// A name for what Result leads into: w_owner, and w_owner2 where w led into
/// another before, so that all fixes of a function can be made together. Empty
/// where a variable of the function has it.
static std::string nameOfOwner(const flow::ControlFlow &Flow,
                               const Stmt *Statement,
                               const std::string &Result) {
  const SourceManager &SM = Flow.function()->getASTContext().getSourceManager();
  llvm::StringSet<> Taken;
  unsigned Before = 0;
  ast::forEachStmt(
      Flow.function()->getBody(),
      [&](const Stmt *S) {
        if (const auto *Declaration = dyn_cast<DeclStmt>(S))
          for (const Decl *D : Declaration->decls())
            if (const auto *V = dyn_cast<NamedDecl>(D))
              Taken.insert(V->getNameAsString());
        Before += nameOfResult(S) == Result &&
                  SM.isBeforeInTranslationUnit(S->getBeginLoc(),
                                               Statement->getBeginLoc());
      },
      ast::Lambdas::Enter);
  const std::string Name =
      Result + "_owner" + (Before == 0 ? "" : std::to_string(Before + 1));
  return Taken.contains(Name) ? "" : Name;
}

/// The temporary object gets a name of its own.
static std::vector<FixItHint>
nameIt(const Program &Program, const OutlivedLoan &Found, const Expr *Made) {
  const flow::ControlFlow *Flow = Found.Taken->In->Flow;
  if (!Flow || !isAlwaysEvaluated(*Flow, Made))
    return {};
  const Stmt *Statement = Flow->statement(Made);
  const std::string Result = nameOfResult(Statement);
  const std::string Text = Program.text(Made);
  const std::string Name =
      Result.empty() ? "" : nameOfOwner(*Flow, Statement, Result);
  if (Name.empty() || Text.empty())
    return {};
  std::vector<FixItHint> Fixes = insertBefore(
      Program.context(), *Flow, Made, "auto " + Name + " = " + Text + ";");
  const Stmt *Written = Made;
  for (const Stmt *Around = Flow->parent(Made);
       isa_and_nonnull<ParenExpr, FullExpr, CXXBindTemporaryExpr,
                       MaterializeTemporaryExpr, ImplicitCastExpr>(Around);
       Around = Flow->parent(Around))
    if (isa<ParenExpr>(Around))
      Written = Around;
  if (Fixes.empty() || Written->getBeginLoc().isMacroID() ||
      Written->getEndLoc().isMacroID())
    return {};
  Fixes.push_back(
      FixItHint::CreateReplacement(Written->getSourceRange(), Name));
  return Fixes;
}

/// A list of its own: std::vector in place of ArrayRef.
static std::vector<FixItHint> ownList(const OutlivedLoan &Found) {
  const flow::ControlFlow *Flow = Found.Taken->In->Flow;
  const auto *Construct = cast<CXXConstructExpr>(Found.Taken->Site);
  const auto *Declaration =
      Flow ? dyn_cast_or_null<DeclStmt>(Flow->statement(Construct)) : nullptr;
  if (!Declaration || !Declaration->isSingleDecl() || !madeBy(Found))
    return {};
  const auto *V = dyn_cast<VarDecl>(Declaration->getSingleDecl());
  const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(
      Construct->getConstructor()->getParent());
  if (!V || !V->getTypeSourceInfo() || !Class)
    return {};
  const QualType Element = Class->getTemplateArgs()[0].getAsType();
  const char *Name =
      torch::isTensor(Element) ? "std::vector<torch::Tensor>"
      : Element->isIntegerType() && Element->isSignedIntegerOrEnumerationType()
          ? "std::vector<int64_t>"
          : nullptr;
  const TypeLoc Written =
      V->getTypeSourceInfo()->getTypeLoc().getUnqualifiedLoc();
  if (!Name || V->getType()->getContainedAutoType() ||
      Written.getBeginLoc().isMacroID() || Written.getEndLoc().isMacroID())
    return {};
  return {FixItHint::CreateReplacement(Written.getSourceRange(), Name)};
}

static Finding describeDangling(const Program &Program,
                                const OutlivedLoan &Found) {
  const Expr *Site = Found.Taken->Site;
  Finding Result;
  Result.Location = Site->getBeginLoc();
  Result.Range = Site->getSourceRange();
  Result.Kind = kindOf(Found);
  Result.Message = message(Program, Found);
  if (!madeBy(Found))
    addEndOfMemory(Result, Found.End->Site, ownerVariable(Found));
  if (Found.Touch)
    Result.Notes.push_back(
        {Found.Touch->Site->getBeginLoc(), "it is used here", NoteRole::Read});
  Result.IterationSite = Site->getBeginLoc();
  // What is made here would end with the function, too.
  if (Found.Hold)
    return Result;
  if (isa<CXXConstructExpr>(Site))
    Result.Fixes = ownList(Found);
  else if (const Expr *Made = madeBy(Found))
    Result.Fixes = nameIt(Program, Found, Made);
  return Result;
}

std::vector<Finding> DanglingDataCheck::analyze(Program &Program) {
  return findingsOf(Program, outlivedViews, describeDangling);
}

} // namespace torchtidy::checks

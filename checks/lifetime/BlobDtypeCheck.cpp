// Finds tensors that are laid over memory (from_blob) with a scalar type that
// is not the one of the memory.
#include "lifetime/BlobDtypeCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "lifetime/BlobDtype.h"
#include "queries/paths/Uses.h"
#include "report/Report.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Text.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static std::string message(const MistypedBlob &Found, const std::string &Type,
                           const std::string &Constant) {
  const std::string Read = "'" + ("k" + Found.ReadAs).str() + "'";
  std::string Result = "'from_blob' reads memory of '" + Type + "' as " + Read;
  const bool IsElsewhere = Found.Memory.Name.empty();
  if (!Found.IsSaid)
    Result += IsElsewhere ? ", the default," : ", the default";
  if (Found.Memory.Of == torch::Element::Container)
    return Result + " but a '" + Type +
           "' keeps its elements elsewhere: the values are meaningless; pass "
           "the address of the elements";
  if (Found.Memory.Of == torch::Element::Pointer)
    return Result + " but it holds addresses: the values are meaningless; pass "
                    "the address of the elements";
  const unsigned Size = torch::scalarSize(Found.ReadAs);
  Result += ": the values are wrong";
  if (Size > Found.Memory.Size)
    Result += ", and it reads beyond the end of the memory (" +
              std::to_string(Size / Found.Memory.Size) + " times its size)";
  return Result + "; pass '" + Constant + "'";
}

static FindingKind kind(const MistypedBlob &Found) {
  if (Found.Memory.Of == torch::Element::Container)
    return FindingKind::BlobReadsContainer;
  if (Found.Memory.Of == torch::Element::Pointer)
    return FindingKind::BlobReadsAddresses;
  return torch::scalarSize(Found.ReadAs) > Found.Memory.Size
             ? FindingKind::BlobReadsBeyond
             : FindingKind::BlobWrongValues;
}

/// The constant in an expression that says the scalar type; null where it is
/// not written there, or more than once.
static const Expr *writtenConstant(const Expr *E, llvm::StringRef Scalar) {
  const Expr *Result = nullptr;
  const bool IsTwice = ast::anyStmt(
      E,
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        if (!Ref || !torch::isLibTorch(Ref->getDecl()) ||
            !Ref->getDecl()->getIdentifier() ||
            torch::scalarName(Ref->getDecl()->getName()) != Scalar)
          return false;
        return std::exchange(Result, Ref) != nullptr;
      },
      ast::Lambdas::Enter);
  return IsTwice ? nullptr : Result;
}

static SourceLocation behind(const Program &Program, SourceLocation Token) {
  return Lexer::getLocForEndOfToken(Token, 0, Program.sourceManager(),
                                    Program.context().getLangOpts());
}

static bool isWritten(const Expr *Argument) {
  return !isa<CXXDefaultArgExpr>(Argument);
}

/// Makes from_blob() read the memory as what it is; nothing where that cannot
/// be written.
static std::vector<FixItHint> typeFixes(const Program &Program,
                                        const MistypedBlob &Found,
                                        const std::string &Constant) {
  const auto *Call = cast<CallExpr>(Found.Blob->Site);
  if (Found.Memory.Name.empty() || ast::beginLoc(Call).isMacroID() ||
      Call->getRParenLoc().isMacroID())
    return {};
  const Expr *Options = torch::blobOptions(Call);
  if (!Options) {
    // What follows the last argument that is written are the options.
    const FunctionDecl *Callee = Call->getDirectCallee();
    for (unsigned I = 0; I < Call->getNumArgs(); ++I)
      if (isa<CXXDefaultArgExpr>(Call->getArg(I)))
        return torch::isTensorOptions(Callee->getParamDecl(I)->getType())
                   ? std::vector<FixItHint>{FixItHint::CreateInsertion(
                         Call->getRParenLoc(), ", " + Constant)}
                   : std::vector<FixItHint>();
    return {};
  }
  if (Found.IsSaid) {
    const Expr *Written = writtenConstant(Options, Found.ReadAs);
    if (!Written || Written->getBeginLoc().isMacroID() ||
        Written->getEndLoc().isMacroID())
      return {};
    return {FixItHint::CreateReplacement(Written->getSourceRange(), Constant)};
  }
  // torch::TensorOptions().device(d)
  if (!isa<CXXMemberCallExpr>(ast::strip(Options)) ||
      Options->getEndLoc().isMacroID())
    return {};
  return {FixItHint::CreateInsertion(behind(Program, Options->getEndLoc()),
                                     ".dtype(" + Constant + ")")};
}

/// And what follows goes on with the type that it has had: another one may not
/// be what a layer takes. What a clone() at once was for, the conversion does.
static std::vector<FixItHint> fixes(const Program &Program,
                                    const MistypedBlob &Found,
                                    const std::string &Constant,
                                    const std::string &Before) {
  std::vector<FixItHint> Result = typeFixes(Program, Found, Constant);
  if (Result.empty() || !Found.IsTypeNeeded)
    return Result;
  const auto *Call = cast<CallExpr>(Found.Blob->Site);
  const SourceLocation Behind = behind(Program, Call->getRParenLoc());
  const std::string Conversion = ".to(" + Before + ")";
  const flow::ControlFlow *Flow = Found.Blob->In->Flow;
  const CXXMemberCallExpr *Next = Flow ? calledOn(*Flow, Call) : nullptr;
  const torch::Operation *Op = Next ? torch::classify(Next).Op : nullptr;
  if (Op && torch::copiesElements(*Op) && ast::endLoc(Next).isFileID() &&
      !llvm::any_of(Next->arguments(), isWritten))
    Result.push_back(FixItHint::CreateReplacement(
        CharSourceRange::getCharRange(Behind,
                                      ast::endLoc(Next).getLocWithOffset(1)),
        Conversion));
  else
    Result.push_back(FixItHint::CreateInsertion(Behind, Conversion));
  return Result;
}

static Finding describe(const Program &Program, const MistypedBlob &Found) {
  const auto *Call = cast<CallExpr>(Found.Blob->Site);
  const std::string Scope =
      torch::namespaceIn(calleeText(Program, Call)).str() + "::k";
  const std::string Constant = Scope + Found.Memory.Name.str();
  PrintingPolicy Policy(Program.context().getLangOpts());
  Policy.SuppressScope = true;
  Finding Result;
  Result.Location = ast::beginLoc(Call);
  Result.Range = Call->getSourceRange();
  Result.Kind = kind(Found);
  Result.Message = message(
      Found,
      Found.Pointee.getCanonicalType().getUnqualifiedType().getAsString(Policy),
      Constant);
  Result.Fixes = fixes(Program, Found, Constant, Scope + Found.ReadAs.str());
  Result.IterationSite = ast::beginLoc(Call);
  return Result;
}

std::vector<Finding> BlobDtypeCheck::analyze(Program &Program) {
  return findingsOf(Program, mistypedBlobs, describe);
}

} // namespace torchtidy::checks

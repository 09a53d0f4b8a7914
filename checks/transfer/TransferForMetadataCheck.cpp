// Finds tensors that are copied to another device, or converted, only to be
// asked what the original knows as well: their sizes, their type.
#include "transfer/TransferForMetadataCheck.h"
#include "ast/Locations.h"
#include "report/Report.h"
#include "transfer/TransferForMetadata.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static const MemberExpr *memberOf(const CXXMemberCallExpr *Call) {
  return dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParenImpCasts());
}

/// x.cpu().size(0) becomes x.size(0), auto c = x.cpu() auto c = x, and
/// count(x.cpu()) count(x).
static std::vector<FixItHint> dropTransfer(const MetadataTransfer &Found) {
  const MemberExpr *To = memberOf(Found.Call);
  const SourceLocation Begin = To ? To->getOperatorLoc() : SourceLocation();
  if (Begin.isInvalid() || !Begin.isFileID() ||
      !ast::endLoc(Found.Call).isFileID())
    return {};
  if (!Found.IsDirect) {
    if (To->isArrow() ||
        (Found.Variable && Found.Variable->getType()->isReferenceType()))
      return {};
    return {FixItHint::CreateRemoval(
        CharSourceRange::getTokenRange(Begin, ast::endLoc(Found.Call)))};
  }
  const MemberExpr *Asked = memberOf(Found.Questions.front());
  const SourceLocation End = Asked ? Asked->getOperatorLoc() : SourceLocation();
  if (End.isInvalid() || !End.isFileID() || Asked->isArrow())
    return {};
  if (To->isArrow())
    return {FixItHint::CreateReplacement(
        CharSourceRange::getTokenRange(Begin, End), "->")};
  return {FixItHint::CreateRemoval(CharSourceRange::getCharRange(Begin, End))};
}

static Finding describe(const Program &Program, const MetadataTransfer &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Call);
  Result.Range = Found.Call->getSourceRange();
  const MemberExpr *To = memberOf(Found.Call);
  const std::string Call =
      "'" + (To ? To->getMemberNameInfo().getAsString() : "to") + "'";
  const std::string Asked =
      "'" + calleeText(Program, Found.Questions.front()) + "()'";
  const std::string Name =
      plainName(Program.context(), Found.Call->getImplicitObjectArgument());
  Result.Message = Call +
                   " copies the whole tensor, and all that is asked of the "
                   "copy is " +
                   Asked + ", which " +
                   (Name.empty() ? "the original" : "'" + Name + "'") +
                   " knows as well; leave the copy out";
  if (!Found.IsDirect)
    for (const CXXMemberCallExpr *Question : Found.Questions)
      addNote(Result, {Question->getExprLoc(), "asked here", NoteRole::Read});
  const auto Around = Found.Entry->loopsAround(Found.Transfer->Point);
  if (!Around.empty())
    addLoop(Result, *Found.Entry, Found.Transfer->In, Around.back());
  Result.Fixes = dropTransfer(Found);
  Result.IterationSite = ast::beginLoc(Found.Call);
  return Result;
}

std::vector<Finding> TransferForMetadataCheck::analyze(Program &Program) {
  return findingsOf(Program, metadataTransfers, describe);
}

} // namespace torchtidy::checks

// Finds sizeof of a constant, a variable or an expression that says an element
// type: it is the size of the enumerator, and not of an element.
#include "results/SizeofDtypeCheck.h"
#include "queries/memory/CopiedBytes.h"
#include "report/Report.h"
#include "results/SizeofDtype.h"
#include "torch/Scalars.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// What takes the place of the sizeof; empty where nothing can.
static std::string replacement(const SizeofDtype &Found,
                               const std::string &Operand) {
  const llvm::StringRef Type = torch::typeOfScalar(Found.Scalar);
  if (!Type.empty())
    return ("sizeof(" + Type + ")").str();
  if (Found.MustBeConstant || Operand.empty())
    return "";
  return Found.IsMeta ? Operand + ".itemsize()"
                      : "c10::elementSize(" + Operand + ")";
}

static std::vector<FixItHint> fixes(const Program &Program,
                                    const SizeofDtype &Found,
                                    const std::string &Instead) {
  const CharSourceRange Range = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Found.Site->getSourceRange()),
      Program.sourceManager(), Program.context().getLangOpts());
  if (Instead.empty() || Range.isInvalid() ||
      Found.Site->getBeginLoc().isMacroID())
    return {};
  return {FixItHint::CreateReplacement(Range, Instead)};
}

static std::string bytes(uint64_t Count) {
  return std::to_string(Count) + (Count == 1 ? " byte" : " bytes");
}

static Finding describe(const Program &Program, const SizeofDtype &Found) {
  Finding Result;
  Result.Location = Found.Site->getBeginLoc();
  Result.Range = Found.Site->getSourceRange();
  const std::string Operand = Program.text(Found.Operand);
  const std::string Instead = replacement(Found, Operand);
  const bool IsByAccident = Found.IsStrictOnly;
  Result.Kind = IsByAccident ? FindingKind::SizeofByAccident
                             : FindingKind::SizeofEnumerator;
  Result.Message =
      (Operand.empty() ? "this 'sizeof'" : "'sizeof(" + Operand + ")'") +
      " is the size of the " +
      (Found.IsMeta ? "'TypeMeta' object" : "enumerator") + ", " +
      bytes(Found.Yields);
  if (IsByAccident)
    Result.Message += ", which only happens to be that of an element; write ";
  else if (Found.Element)
    Result.Message += ", and an element has " + std::to_string(Found.Element) +
                      ": sizes and copies come out wrong; write ";
  else
    Result.Message += ", whatever the element type is: sizes and copies come "
                      "out wrong; write ";
  Result.Message +=
      Instead.empty() ? "the size of the element's type" : "'" + Instead + "'";
  Result.Fixes = fixes(Program, Found, Instead);
  return Result;
}

static Finding describe(const Program & /*Program*/, const CopiedBytes &Found) {
  const std::string Tensor = "'" + Found.Tensor->getNameAsString() + "'";
  Finding Result;
  Result.Location = Found.Size->getBeginLoc();
  Result.Range = Found.Size->getSourceRange();
  Result.Kind = FindingKind::SizeofOtherType;
  Result.Message = "an element of " + Tensor + ", which is 'k" +
                   Found.Scalar.str() + "' here, has " + bytes(Found.Element) +
                   ", and not " + std::to_string(Found.Said) +
                   (Found.Said > Found.Element
                        ? ": memory behind the tensor is read or written"
                        : ": only a part of the tensor is copied") +
                   "; write '" + Found.Tensor->getNameAsString() + ".nbytes()'";
  addNote(Result, {Found.Pointer->Site->getBeginLoc(),
                   "these bytes of it are meant", NoteRole::Read});
  addCallers(Result, Found.Pointer->In);
  return Result;
}

std::vector<Finding> SizeofDtypeCheck::analyze(Program &Program) {
  std::vector<Finding> Findings =
      findingsOf(Program, sizesOfDtypes, describe, Strict);
  llvm::append_range(Findings, findingsOf(Program, miscountedBytes, describe));
  return Findings;
}

} // namespace torchtidy::checks

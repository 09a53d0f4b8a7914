// What the checks share in putting findings together.
#ifndef TORCHTIDY_REPORT_REPORT_H
#define TORCHTIDY_REPORT_REPORT_H

#include "model/execution/Program.h"
#include "report/Finding.h"

namespace torchtidy::model {

/// The name of what a member call is made on, with the path to its members:
/// "optimizer_->" of optimizer_->step(). Empty where it is not written.
std::string memberPrefix(const clang::ASTContext &Context,
                         const clang::Expr *Call);
/// The same without the path: "optimizer_".
std::string objectName(const clang::ASTContext &Context,
                       const clang::Expr *Call);

/// What a store stores into, as it is written there: "losses" of
/// losses.push_back(x) and of losses[i] = x. Empty where it has no name.
std::string targetName(const clang::ASTContext &Context,
                       const clang::Expr *Store);

/// The name of a variable or a member as it is written, without "this->"; empty
/// for other expressions.
std::string plainName(const clang::ASTContext &Context, const clang::Expr *E);
/// The name of the function that is called, as it is written: "torch::zeros",
/// of a method without its object.
std::string calleeText(const Program &Program, const clang::Expr *Call);

/// What a store stores into, as an expression: the variable of a std::tie, the
/// left side of an assignment; null for others.
const clang::Expr *storedInto(const StoreEvent &Store);
/// The same as it is written, without "this->"; empty where it has no name.
std::string storedName(const clang::ASTContext &Context,
                       const StoreEvent &Store);
/// A variable or a member that is a tensor.
bool isNamedTensor(const clang::Expr *E);
/// "h = h.detach();" for a tensor, the same by parts for a tuple of tensors;
/// empty for others.
std::string detachStatement(const clang::ASTContext &Context,
                            const StoreEvent &Store);

/// "in every iteration of this loop", or that the function of frame In is
/// called in it; nothing for a goto.
void addLoop(Finding &Result, const Execution &Entry, const Frame *In,
             const flow::Loop *L);

/// A note of where memory ends: at Site, or with the scope of its owner. None
/// where neither is known.
void addEndOfMemory(Finding &Result, const clang::Stmt *Site,
                    const clang::VarDecl *Owner);

/// Where a site in a function that others call is reached from.
void addCallers(Finding &Result, const Frame *In);

/// A note at a place that the finding does not speak of yet.
void addNote(Finding &Result, Note New);

/// Findings of a check at one location are one: a template or a helper is met
/// once for each entry that leads to it. TorchCheck does this for all checks.
void addUnlessKnown(std::vector<Finding> &Findings, Finding New);

/// What a query finds, in words: a finding for each fact.
template <class Fact>
std::vector<Finding>
findingsOf(Program &Program, std::vector<Fact> (*Query)(model::Program &),
           Finding (*Describe)(const model::Program &, const Fact &)) {
  std::vector<Finding> Result;
  for (const Fact &Found : Query(Program))
    Result.push_back(Describe(Program, Found));
  return Result;
}

/// The same of the facts that Tells says yes to.
template <class Fact, class Predicate>
std::vector<Finding>
findingsOf(Program &Program, std::vector<Fact> (*Query)(model::Program &),
           Finding (*Describe)(const model::Program &, const Fact &),
           Predicate Tells) {
  std::vector<Finding> Result;
  for (const Fact &Found : Query(Program))
    if (Tells(Found))
      Result.push_back(Describe(Program, Found));
  return Result;
}

/// The same; facts that are IsStrictOnly where Strict.
template <class Fact>
std::vector<Finding>
findingsOf(Program &Program, std::vector<Fact> (*Query)(model::Program &),
           Finding (*Describe)(const model::Program &, const Fact &),
           bool Strict) {
  return findingsOf(Program, Query, Describe, [Strict](const Fact &Found) {
    return Strict || !Found.IsStrictOnly;
  });
}

} // namespace torchtidy::model

#endif

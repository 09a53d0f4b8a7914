// What the checks share in putting findings together.
#ifndef TORCHTIDY_MODEL_REPORT_H
#define TORCHTIDY_MODEL_REPORT_H

#include "model/Execution.h"
#include "model/Finding.h"
#include "model/Program.h"

namespace torchtidy::model {

/// The name of what a member call is made on, with the way to its members:
/// "optimizer_->" of optimizer_->step(). Empty where it is not written.
std::string memberPrefix(const clang::ASTContext &Context,
                         const clang::Expr *Call);
/// The same without the way: "optimizer_".
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
const clang::Expr *storedInto(const Event &Store);
/// The same as it is written, without "this->"; empty where it has no name.
std::string storedName(const clang::ASTContext &Context, const Event &Store);
/// A variable or a member that is a tensor.
bool isNamedTensor(const clang::Expr *E);
/// "h = h.detach();" for a tensor, the same by parts for a tuple of tensors;
/// empty for others.
std::string detachStatement(const clang::ASTContext &Context,
                            const Event &Store);

/// "in every iteration of this loop", or that the function of frame In is
/// called in it; nothing for a goto.
void addLoop(Finding &Result, const Execution &Way, const Frame *In,
             const flow::Loop *L);

/// Where a site in a function that others call is reached from.
void addCallers(Finding &Result, const Frame *In);

/// Findings at one location are one: a template or a helper is met once for
/// each way that leads to it.
void addUnlessKnown(std::vector<Finding> &Findings, Finding New);

} // namespace torchtidy::model

#endif

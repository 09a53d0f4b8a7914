#include "torch/Reading.h"
#include "ast/Expressions.h"
#include "torch/Members.h"

using namespace clang;

namespace torchtidy::torch {

DataReads dataReads(const CallExpr *Call, const torch::Call &Kind) {
  switch (Kind.Kind) {
  case Api::Operation: {
    // Views read nothing, nor does size().
    const bool Reads =
        Kind.Op->View != Tri::Yes &&
        !(Kind.Op->Returns == operation::Scalar && Kind.Op->Sync == Tri::No);
    return {Reads, Reads};
  }
  case Api::ModuleForward:
  case Api::Foreign:
    return {false, true};
  case Api::Library:
    // Not its size, its device or whether it is defined.
    return {givesReadAccess(Call->getDirectCallee()), !ast::objectOf(Call)};
  default:
    return {};
  }
}

} // namespace torchtidy::torch

#include "model/domains/Transfers.h"
#include "model/domains/aliases/Transfer.h"
#include "model/domains/attributes/Transfer.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/extent/Transfer.h"
#include "model/domains/history/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/domains/modes/Transfer.h"
#include "model/domains/registration/Transfer.h"
#include "model/domains/saved/Transfer.h"
#include "model/domains/scale/Transfer.h"
#include "model/domains/shape/Transfer.h"
#include "model/machine/Machine.h"

namespace torchtidy::model {

bool OperationCall::isFactory() const {
  return Op->has(torch::operation::Factory) ||
         Op->has(torch::operation::LikeFactory);
}

llvm::ArrayRef<DomainTransfer> domainTransfers() {
  // Whether a view is recorded depends on where its operand lies; what is told
  // of memory names everything else. How large a storage is, its shape says,
  // and that a tensor is no single number, which may lie on another device.
  static const DomainTransfer All[] = {
      {"modes", nullptr, modes::part, nullptr, nullptr, nullptr, nullptr,
       nullptr, modes::given},
      {"shape", shape::initial, shape::part, nullptr, shape::operation,
       shape::call, shape::write, shape::lost, nullptr},
      {"device", device::initial, device::part, device::loaded,
       device::operation, device::call, nullptr, device::lost, device::given},
      {"extent", extent::initial, nullptr, nullptr, extent::operation,
       extent::call, nullptr, extent::lost, nullptr},
      {"attributes", nullptr, nullptr, nullptr, attributes::operation,
       attributes::call, attributes::write, attributes::lost, nullptr},
      {"registration", registration::initial, registration::part, nullptr,
       registration::operation, registration::call, nullptr, nullptr, nullptr},
      {"history", history::initial, nullptr, nullptr, history::operation,
       history::call, history::write, history::lost, nullptr},
      {"aliases", aliases::initial, aliases::part, nullptr, aliases::operation,
       aliases::call, nullptr, nullptr, nullptr},
      {"loans", nullptr, nullptr, nullptr, loans::operation, nullptr, nullptr,
       nullptr, nullptr},
      {"saved", nullptr, saved::part, saved::loaded, saved::operation,
       saved::call, saved::write, nullptr, nullptr},
      {"scale", scale::initial, scale::part, nullptr, scale::operation,
       scale::call, scale::write, scale::lost, nullptr},
  };
  return All;
}

LibraryCall::LibraryCall(Machine &M, const clang::CallExpr *Call,
                         llvm::ArrayRef<const clang::Expr *> All)
    : Call(Call) {
  for (const clang::Expr *Argument : All)
    if (!llvm::isa<clang::CXXDefaultArgExpr>(Argument)) {
      Arguments.push_back(Argument);
      Values.push_back(M.deepValue(Argument));
    }
}

/// Asks each domain that has an answer.
template <class Row, class... Args>
static void ask(Row DomainTransfer::*Question, Args &&...With) {
  for (const DomainTransfer &Domain : domainTransfers())
    if (Domain.*Question)
      (Domain.*Question)(With...);
}

Value initialValue(Machine &M, PlaceId P) {
  Value Result;
  ask(&DomainTransfer::Initial, M, P, Result);
  return Result;
}

Value partOf(Machine &M, PlaceId P, const Value &Whole) {
  Value Result = Whole;
  ask(&DomainTransfer::Part, M, P, Result);
  return Result;
}

void describeLoaded(Machine &M, PlaceId P, Value &Loaded) {
  ask(&DomainTransfer::Loaded, M, P, Loaded);
}

Value resultOf(Machine &M, const OperationCall &Call) {
  Value Result;
  ask(&DomainTransfer::Operation, M, Call, Result);
  return Result;
}

Value resultOf(Machine &M, const LibraryCall &Call) {
  Value Result;
  ask(&DomainTransfer::Call, M, Call, Result);
  return Result;
}

void write(Machine &M, const Value &Written, bool IsWhole, Value &Target) {
  ask(&DomainTransfer::Write, M, Written, IsWhole, Target);
}

void lose(Machine &M, const PlaceSet &Objects) {
  for (PlaceId P : Objects)
    ask(&DomainTransfer::Given, M, P);
  for (PlaceId P : Objects)
    M.forEachWithin(P, [](Value &V) {
      if (V.History)
        ask(&DomainTransfer::Lost, V);
    });
}

} // namespace torchtidy::model

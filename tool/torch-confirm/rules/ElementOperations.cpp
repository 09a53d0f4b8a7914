// element-operations: a tensor of several elements is taken apart, and each
// operation then reads or writes one number.
#include "rules/Operations.h"
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Fewer cost less than whatever is around them.
constexpr uint64_t FewestAccesses = 64;

/// Of these, so many have a tensor to themselves, and nothing is taken apart.
constexpr double ShareOfOwn = 0.5;

bool reads(const Site &S) {
  return isOneOf(
      S, {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"});
}

bool writes(const Site &S) {
  return isOneOf(S, {"aten::fill_", "aten::copy_", "aten::add_", "aten::sub_",
                     "aten::mul_", "aten::div_"});
}

/// Takes the tensor and its indices at once.
bool writesByIndex(const Site &S) {
  return isOneOf(S, {"aten::index_put_", "aten::_index_put_impl_"});
}

/// The product of the sizes of the first tensor of "Float[32,3] on cuda:0";
/// one of "Float[]".
std::optional<uint64_t> elementsOf(const ShapeCount &Shape) {
  const size_t Open = Shape.Text.find('['), Close = Shape.Text.find(']');
  if (Open == std::string::npos || Close == std::string::npos || Close < Open)
    return std::nullopt;
  uint64_t Elements = 1, Number = 0;
  bool HasDigits = false;
  for (size_t I = Open + 1; I <= Close; ++I) {
    const char C = Shape.Text[I];
    if (C >= '0' && C <= '9') {
      Number = Number * 10 + uint64_t(C - '0');
      HasDigits = true;
    } else if (HasDigits) {
      Elements *= Number;
      Number = 0;
      HasDigits = false;
    }
  }
  return Elements;
}

/// Hits on tensors of one element, and on larger ones.
struct Hits {
  uint64_t OfOne = 0, OfMore = 0;
};

Hits hitsOf(const Site &S) {
  Hits Result;
  for (const ShapeCount &Shape : S.Shapes)
    (elementsOf(Shape).value_or(1) == 1 ? Result.OfOne : Result.OfMore) +=
        Shape.Count;
  // No more is known of the others.
  if (S.Shapes.empty())
    Result.OfOne = S.Hits;
  else
    Result.OfOne += S.OtherShapes;
  return Result;
}

class ElementOperations : public Rule {
public:
  std::string evidence() const override { return "element-operations"; }
  std::vector<std::string> needs() const override { return {"operations"}; }

  Verdict judge(const Places &Where) const override {
    Verdict V;
    V.Rule = "operations of the line on one element";
    V.Iterations = Where.iterations();
    V.Unit = "operations on one element";
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    // Own: of tensors that have no other element.
    uint64_t One = 0, More = 0, All = 0, Own = 0;
    const bool IsReduced = Where.Finding.Kind == FindingKind::ElementsReduced;
    for (const Site *S : sitesOf(Where.Statement)) {
      All += S->Hits;
      if (reads(*S) || writes(*S)) {
        const Hits H = hitsOf(*S);
        One += H.OfOne;
        More += H.OfMore;
        if (!IsReduced)
          Own += H.OfOne - std::min(H.OfOne, S->OfOneElement);
      } else if (writesByIndex(*S)) {
        One += S->Hits;
      }
    }
    V.Number = double(One);
    if (One && double(Own) >= ShareOfOwn * double(One)) {
      V.Result = Outcome::Refuted;
      V.Rule = "elements of a larger tensor";
      V.Sentence = "the " + countText(double(One), "element") +
                   " read or written one at a time are tensors of their own";
      return V;
    }
    if (!One) {
      V.Result = Outcome::Refuted;
      V.Sentence = More ? "the operations of this line work on " +
                              countText(double(More), "tensor") +
                              " of several elements"
                        : "no operation of this line reads or writes one "
                          "element";
      return V;
    }
    if (One < FewestAccesses) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few in this run: " + countText(double(One), "element");
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Sentence = countText(double(One), "element") +
                 " read or written one at a time, by " +
                 countText(double(All), "operation");
    V.Cost = CostKind::Calls;
    V.CostAmount = double(All);
    V.CostText = countText(double(All), "operation") + " in this run";
    return V;
  }
};

const RegisterRule<ElementOperations> RegisterElementOperations;

} // namespace
} // namespace torchtidy::confirm

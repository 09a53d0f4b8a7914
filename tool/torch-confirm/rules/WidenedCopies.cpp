// copied-bytes-per-iteration: a tensor that is converted to a wider type on the
// host and copied to a device then, in one statement.
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// As many elements of twice, four times or eight times the size. Two tensors
/// of one line have other sizes.
bool isWider(double Moved, double Converted) {
  return Moved == 2 * Converted || Moved == 4 * Converted ||
         Moved == 8 * Converted;
}

class WidenedCopies : public Rule {
public:
  std::string evidence() const override { return "copied-bytes-per-iteration"; }
  std::vector<std::string> needs() const override { return {"copies"}; }

  Verdict judge(const Places &Where) const override {
    // What conversions on the host have read, and what went to the device.
    double Converted = 0, Moved = 0;
    uint64_t Conversions = 0;
    std::vector<CopyCount> Transfers;
    for (const Site *S : sitesOf(Where.Statement))
      for (const CopyCount &Copy : S->Copies) {
        if (Copy.From == "cpu" && Copy.To == "cpu" && Copy.Converts) {
          Converted += double(Copy.Bytes);
          Conversions += Copy.Count;
        } else if (Copy.From == "cpu" && Copy.To != "cpu") {
          Moved += double(Copy.Bytes);
          Transfers.push_back(Copy);
        }
      }
    Verdict V;
    V.Iterations = Where.iterations();
    V.Unit = "bytes copied per iteration";
    const double Iterations = double(std::max<uint64_t>(V.Iterations, 1));
    const std::string During = countText(double(V.Iterations), "iteration");
    if (!Moved) {
      V.Result = Where.Statement.empty() ? Outcome::NotReached
                                         : Outcome::NotMeasurable;
      V.Rule = "needs a device";
      V.Sentence =
          Where.Statement.empty()
              ? Where.unseenText()
              : "nothing of this line is copied to a device, " + During;
      return V;
    }
    V.Rule = "bytes to the device against those before the conversion";
    if (!Converted) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "the conversion is not in this line, " + During;
      return V;
    }
    // A line may move other tensors beside it.
    const auto Widened = std::find_if(
        Transfers.begin(), Transfers.end(), [&](const CopyCount &Each) {
          return Each.Count == Conversions &&
                 isWider(double(Each.Bytes), Converted);
        });
    if (Widened != Transfers.end())
      Moved = double(Widened->Bytes);
    V.Number = Moved / Iterations;
    const std::string Bytes =
        bytesText(Moved / Iterations) + " go to the device each time, " +
        bytesText(Converted / Iterations) + " before the conversion, " + During;
    V.Sentence = Bytes;
    if (Moved <= Converted) {
      V.Result = Outcome::Refuted;
      return V;
    }
    if (Widened == Transfers.end()) {
      V.Sentence = "what is converted in this line is not what goes to the "
                   "device, by their numbers and sizes: " +
                   Bytes;
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Cost = CostKind::Copies;
    V.CostAmount = Moved - Converted;
    V.CostText = bytesText(Moved - Converted) + " copied too many in this run";
    return V;
  }
};

const RegisterRule<WidenedCopies> RegisterWidenedCopies;

} // namespace
} // namespace torchtidy::confirm

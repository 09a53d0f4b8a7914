// The first line of a report.
#include "profile/Parts.h"
#include <cmath>

namespace torchtidy::confirm {
namespace {

int64_t highest(const Profile &Of) {
  return (Of.CudaPeak ? Of.CudaPeak->Highest : 0) +
         (Of.CpuPeak ? Of.CpuPeak->Highest : 0);
}

std::string percent(double Share) {
  return std::to_string(int(std::lround(100 * Share))) + " %";
}

std::string nodesText(double Nodes) {
  char Text[64];
  std::snprintf(Text, sizeof(Text), Nodes < 10 ? "%.1f" : "%.0f", Nodes);
  return std::string(Text) + (Nodes == 1 ? " graph node" : " graph nodes");
}

std::string callerText(const Cause &Of) {
  return Of.Caller ? " (called from " + textOf(*Of.Caller) + ")" : "";
}

std::string growing(const Profile &Of) {
  std::string Text = "memory grows by ";
  if (Of.BytesPerUnit >= 1 || Of.NodesPerUnit <= 0)
    Text += memoryText(Of.BytesPerUnit) + (Of.NodesPerUnit > 0 ? " and " : "");
  if (Of.NodesPerUnit > 0)
    Text += nodesText(Of.NodesPerUnit);
  Text += " per " + Of.Unit;
  if (Of.Causes.empty())
    return Text;
  const Cause &First = Of.Causes.front();
  Text += "; " + percent(First.Share) + " of it ";
  Text += First.Kind == CauseKind::KeptGraphs
              ? "is held by the graph that is kept at "
              : "stays that is made at ";
  return Text + textOf(First.Line) + callerText(First);
}

} // namespace

std::string headlineOf(const Recording &Run, const Profile &Of,
                       const Growth &Grown) {
  if (Run.Moments.empty())
    return "no memory of tensors was seen";
  std::string Text;
  switch (Of.Memory) {
  case Trend::Grows:
    Text = growing(Of);
    break;
  case Trend::Unknown:
    Text = "the run is too short to tell whether memory grows; at most " +
           memoryText(double(highest(Of)));
    break;
  case Trend::Level:
    Text = "no growth; at most " + memoryText(double(highest(Of)));
    break;
  }
  if (Of.Memory != Trend::Grows && !Of.Causes.empty()) {
    const Cause &First = Of.Causes.front();
    Text += First.Kind == CauseKind::RecordedEvaluation
                ? ", " + percent(First.Share) +
                      " of it a graph that no backward() runs, recorded at "
                : ", " + percent(First.Share) + " of it made at ";
    Text += textOf(First.Line) + callerText(First);
  }
  if (Grown.BytesBeside > 0 && Grown.Nodes <= 0)
    Text += "; beside tensors the process grew by " +
            memoryText(double(Grown.BytesBeside));
  return Text;
}

} // namespace torchtidy::confirm

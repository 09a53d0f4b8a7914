// Prints a trace as JSON, with addresses of sites as <module>+<offset of the
// call>.
#include "trace/TraceFile.h"

#include <cinttypes>
#include <cstdio>

using namespace torchtidy::confirm::trace;

static void text(const std::string &Text) {
  std::putchar('"');
  for (unsigned char Byte : Text)
    if (Byte == '"' || Byte == '\\')
      std::printf("\\%c", Byte);
    else if (Byte < ' ')
      std::printf("\\u%04x", Byte);
    else
      std::putchar(Byte);
  std::putchar('"');
}

static void number(const char *Name, int64_t Number) {
  std::printf("\"%s\": %" PRId64 ", ", Name, Number);
}

static void dump(const TraceData &Trace, const SiteData &Site) {
  std::printf("{\"operation\": ");
  text(Site.Operation);
  std::printf(", \"frames\": [");
  bool IsFirst = true;
  for (uint64_t Address : Site.Frames) {
    const ModuleData *Module = Trace.moduleOf(Address - 1);
    std::printf(IsFirst ? "[" : ", [");
    IsFirst = false;
    text(Module ? Module->Path : "?");
    std::printf(", %" PRIu64 "]",
                Address - 1 - (Module ? Module->LoadBase : 0));
  }
  std::printf("], \"values\": {");
  IsFirst = true;
  for (const ValueData &Value : Site.Values) {
    std::printf(IsFirst ? "" : ", ");
    IsFirst = false;
    text(Value.Name);
    std::printf(": [%" PRIu64 ", %g, %g, %g, %zu]", Value.Number, Value.First,
                Value.Last, Value.Sum, Value.Samples.size());
  }
  std::printf("}, \"copies\": [");
  IsFirst = true;
  for (const CopyData &Copy : Site.Copies) {
    std::printf("%s[%d, %d, %d, %" PRIu64 ", %" PRIu64 "]", IsFirst ? "" : ", ",
                static_cast<int>(Copy.Kind.From),
                static_cast<int>(Copy.Kind.To), Copy.Kind.Converts, Copy.Number,
                Copy.Bytes);
    IsFirst = false;
  }
  std::printf("], \"shapes\": [");
  IsFirst = true;
  for (const ShapeData &Shape : Site.Shapes) {
    std::printf(IsFirst ? "[" : ", [");
    IsFirst = false;
    text(Shape.Text);
    std::printf(", %" PRIu64 "]", Shape.Number);
  }
  std::printf("], \"thrown\": [");
  IsFirst = true;
  for (const ThrownData &Thrown : Site.Thrown) {
    std::printf(IsFirst ? "[" : ", [");
    IsFirst = false;
    text(Thrown.Type);
    std::printf(", ");
    text(Thrown.Message);
    std::printf(", %" PRIu64 "]", Thrown.Number);
  }
  std::printf("], ");
  number("other_shapes", Site.OtherShapes);
  number("hits", Site.Hits);
  number("shortened", Site.IsShortened);
  number("allocations", Site.Allocations);
  number("allocated", Site.AllocatedBytes);
  number("live", Site.LiveBytes);
  number("most_own", Site.MostOwnBytes);
  number("nodes", Site.NodesMade);
  number("nodes_alive", Site.NodesAlive);
  number("most_nodes", Site.MostNodesAlive);
  number("nodes_run", Site.NodesRun);
  number("synchronisations", Site.Synchronisations);
  number("exceptions", Site.Exceptions);
  number("uncleared", Site.UnclearedSteps);
  number("peak", Site.PeakBytes);
  std::printf("\"series\": [");
  IsFirst = true;
  for (const Sample &Each : Site.Series) {
    std::printf("%s[%" PRIu64 ", %" PRId64 ", %" PRId64 ", %" PRIu64
                ", %" PRIu64 "]",
                IsFirst ? "" : ", ", Each.Hit, Each.CpuBytes, Each.Nodes,
                Each.Allocations, Each.Copies);
    IsFirst = false;
  }
  std::printf("]}");
}

int main(int Count, char **Arguments) {
  if (Count != 2)
    return 2;
  std::string Error;
  const auto Trace = readTrace(Arguments[1], Error);
  if (!Trace) {
    std::fprintf(stderr, "%s\n", Error.c_str());
    return 1;
  }
  std::printf("{\"command\": [");
  for (size_t I = 0; I < Trace->Command.size(); ++I) {
    std::printf(I ? ", " : "");
    text(Trace->Command[I]);
  }
  std::printf("], \"capabilities\": {");
  bool IsFirst = true;
  for (const auto &[Name, Known] : Trace->Capabilities) {
    std::printf("%s\"%s\": [%d, ", IsFirst ? "" : ", ", Name.c_str(),
                Known.IsAvailable);
    text(Known.Reason);
    std::printf("]");
    IsFirst = false;
  }
  std::printf("}, \"unwinder\": ");
  text(Trace->Unwinder);
  std::printf(", \"torch\": ");
  text(Trace->LibTorch);
  std::printf(", ");
  number("pid", Trace->ProcessId);
  number("forked_from", Trace->ForkedFrom);
  number("operations", Trace->Operations);
  number("top_operations", Trace->TopOperations);
  number("allocations", Trace->Allocations);
  number("live", Trace->LiveCpuBytes);
  number("peak", Trace->PeakCpuBytes);
  number("live_cuda", Trace->LiveCudaBytes);
  number("peak_cuda", Trace->PeakCudaBytes);
  number("reserved_cuda", Trace->PeakCudaReserved);
  number("nodes", Trace->NodesMade);
  number("nodes_alive", Trace->NodesAlive);
  number("nodes_run", Trace->NodesRun);
  number("backwards", Trace->Backwards);
  number("steps", Trace->Steps);
  number("uncleared", Trace->UnclearedSteps);
  number("exceptions", Trace->Exceptions);
  number("synchronisations", Trace->Synchronisations);
  number("unattributed", Trace->Unattributed);
  number("stack_walks", Trace->StackWalks);
  number("stack_checks", Trace->StackChecks);
  number("stack_check_failures", Trace->StackCheckFailures);
  std::printf("\"sites\": [");
  for (size_t I = 0; I < Trace->Sites.size(); ++I) {
    std::printf(I ? ",\n" : "\n");
    dump(*Trace, Trace->Sites[I]);
  }
  std::printf("]}\n");
}

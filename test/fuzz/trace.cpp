// The probe's trace: what a program that was killed has left of it, and the
// recording that is made of it.
//
// A trace has a hundred megabytes, nearly all of them zero. So an input is what
// differs from a small one that is right: of each change a section, a row, a
// place in that, and bytes. One that begins with a zero is a file as it is.
#include "trace/Trace.h"
#include "Input.h"
#include "recording/FromTrace.h"
#include "recording/Json.h"
#include "support/Errors.h"
#include "trace/TraceFile.h"
#include <algorithm>
#include <cstring>

using namespace torchtidy::confirm;
namespace layout = torchtidy::confirm::trace;

namespace {

struct Section {
  uint64_t At, Row, Count;
};
constexpr Section Sections[] = {
    {0, sizeof(layout::Header), 1},
    {layout::ModulesAt, sizeof(layout::Module), layout::MaxModules},
    {layout::TextAt, 64, layout::TextSize / 64},
    {layout::ValuesAt, sizeof(layout::Value), layout::MaxValues},
    {layout::ThrownAt, sizeof(layout::Thrown), layout::MaxThrown},
    {layout::SitesAt, sizeof(layout::Site), layout::MaxSites},
    {layout::SeriesAt, sizeof(layout::Series), layout::MaxSeries},
    {layout::IterationsAt, sizeof(layout::Iterations), 1},
    {layout::MomentsAt, sizeof(layout::Moment), layout::AllMoments},
    {layout::NetworkAt, sizeof(layout::NetworkTensor), layout::MaxNetwork},
    {layout::EventsAt, sizeof(layout::Event),
     layout::FirstEvents + layout::LastEvents},
    {layout::HeldAt, layout::HeldRow, layout::AllMoments},
};

class Trace {
public:
  Trace() : Descriptor(memfd_create("trace", MFD_CLOEXEC)) {
    if (Descriptor < 0 || ftruncate(Descriptor, layout::FileSize))
      abort();
    void *Memory = mmap(nullptr, layout::FileSize, PROT_READ | PROT_WRITE,
                        MAP_SHARED, Descriptor, 0);
    if (Memory == MAP_FAILED)
      abort();
    Bytes = static_cast<uint8_t *>(Memory);
    begin();
    fill();
  }

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(Descriptor);
  }

  void change(const uint8_t *Data, size_t Size) {
    // Section, bytes, row, place.
    constexpr size_t Head = 6;
    while (Size > Head) {
      const Section &Where = Sections[Data[0] % std::size(Sections)];
      const uint64_t Row = word(Data + 2) % Where.Count;
      const uint64_t Place = word(Data + 4) % Where.Row;
      const uint64_t At = Where.At + Row * Where.Row + Place;
      const size_t Length =
          std::min<uint64_t>({Data[1], Size - Head, layout::FileSize - At});
      Before.push_back({At, {Bytes + At, Bytes + At + Length}});
      std::memcpy(Bytes + At, Data + Head, Length);
      Data += Head + Length;
      Size -= Head + Length;
    }
  }

  void restore() {
    for (auto It = Before.rbegin(); It != Before.rend(); ++It)
      std::copy(It->second.begin(), It->second.end(), Bytes + It->first);
    Before.clear();
  }

private:
  static uint64_t word(const uint8_t *Data) {
    return Data[0] | uint64_t(Data[1]) << 8;
  }
  template <class T> T &at(uint64_t Offset, uint64_t Index = 0) {
    return reinterpret_cast<T *>(Bytes + Offset)[Index];
  }
  layout::TextOffset text(const char *Text) {
    auto &Used = at<layout::Header>(0).TextUsed;
    const uint32_t Offset = Used;
    std::strcpy(reinterpret_cast<char *>(Bytes + layout::TextAt + Offset),
                Text);
    Used = Offset + uint32_t(std::strlen(Text)) + 1;
    return Offset;
  }

  /// As the probe's openTrace() does.
  void begin() {
    auto &Head = at<layout::Header>(0);
    std::memcpy(Head.Magic, layout::Magic, sizeof(layout::Magic));
    Head.Version = layout::Version;
    Head.HeaderSize = sizeof(layout::Header);
    Head.FileSize = layout::FileSize;
    Head.TextUsed = 1;
    Head.Arguments = text("./train");
    text("--epochs");
    Head.ArgumentCount = 2;
    Head.WorkingFolder = text("/home/me");
    Head.LibTorch = text("2.11.0");
    Head.CudaDevice = text("a device");
    Head.Unwinder = text("memo");
    Head.IsComplete = 1;
    Head.HasTimeline = 1;
    for (auto &Each : Head.Capabilities)
      Each.Available = 1;
    Head.Capabilities[2].Reason = text("no device");
    Head.RuntimeCalls[0].Name = text("cudaMalloc");
    Head.RuntimeCalls[0].Number = 3;
  }

  /// A little of all that there is.
  void fill() {
    auto &Head = at<layout::Header>(0);
    Head.ModuleCount = 2;
    for (uint32_t I = 0; I < 2; ++I) {
      auto &Each = at<layout::Module>(layout::ModulesAt, I);
      Each = {text("/home/me/train"), 1, 4096, 4096, 8192, 20, {}};
    }
    const char *Operations[] = {"", "aten::add", "backward", "step:SGD"};
    for (uint32_t I = 1; I < std::size(Operations); ++I) {
      auto &Each = at<layout::Site>(layout::SitesAt, I);
      Each.Kind = layout::SiteKind(I - 1);
      Each.Operation = text(Operations[I]);
      Each.FrameCount = 2;
      Each.Frames[0] = 5000;
      Each.Hits = 4;
      Each.Series = I - 1;
      Each.GoneAt = 1;
      Each.UsedAt = 2;
      Each.Stretches[3].Number = 2;
      Each.MadeSince = 1;
      Each.Copies[4].Number = 1;
      Each.Shapes[0].Hash = 1;
      Each.Shapes[0].Number = 2;
      Each.Shapes[0].Text = text("float[2,3]");
      Each.First.Hit = 1;
      auto &Series = at<layout::Series>(layout::SeriesAt, I - 1);
      Series.Size = 2;
      Series.Stride = 1;
      Series.Samples[0].Hit = 2;
      Series.Samples[1].Hit = 3;
      Each.LastIndex = 1;
      Each.Last[1].Hit = 4;
      Each.State = 2;
      auto &Thrown = at<layout::Thrown>(layout::ThrownAt, I);
      Thrown.Site = I;
      Thrown.Type = text("N3c105ErrorE");
      Thrown.Message = text("sizes differ");
      Thrown.Number = 1;
      Thrown.State = 2;
      auto &Value = at<layout::Value>(layout::ValuesAt, I);
      Value.Site = I;
      Value.Name = text("loss");
      Value.Number = Value.SampleCount = 2;
      Value.State = 2;
      auto &Network = at<layout::NetworkTensor>(layout::NetworkAt, I - 1);
      Network.Name = text("layer.weight");
      Network.Site = I;
      auto &Event = at<layout::Event>(layout::EventsAt, I);
      Event.Begin = I;
      Event.End = I + 3;
      Event.Site = I;
    }
    Head.SiteCount = 4;
    Head.SeriesCount = 3;
    Head.ValueCount = Head.NetworkSize = 3;
    Head.EventCount = 3;
    for (uint32_t I = 0; I < layout::AllMoments; I += 9) {
      auto &Moment = at<layout::Moment>(layout::MomentsAt, I);
      Moment.Kind = layout::MomentKind(I / 9 % 5);
      Moment.SiteCount = 3;
      Moment.Nanoseconds = I;
      at<layout::HeldBySite>(layout::HeldAt + I * layout::HeldRow, 2) = {8, 4,
                                                                         1};
      Moment.State = 2;
    }
    auto &Iterations = at<layout::Iterations>(layout::IterationsAt);
    Iterations.Site = 3;
    Iterations.Stride = 1;
    Iterations.Size = 2;
    Iterations.Number = 3;
    for (uint32_t I = 0; I < 2; ++I) {
      Iterations.Rows[I].Number = I + 1;
      Iterations.Rows[I].End = I + 1;
    }
    Iterations.Last.Number = 3;
    Iterations.Worst.Number = 2;
  }

  int Descriptor;
  uint8_t *Bytes = nullptr;
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> Before;
};

void readAll(const std::string &Path) {
  std::string Error;
  auto Read = layout::readTrace(Path, Error);
  if (!Read)
    return;
  // What has line numbers is asked for them by another program.
  for (layout::SiteData &Each : Read->Sites)
    Each.Frames.clear();
  const Recording Made = recordingOf(*Read);
  recordingFromJson(toJson(Made), "trace");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size && !Data[0]) {
    const FileOf File(Data + 1, Size - 1);
    std::string Error;
    layout::readTrace(File.path(), Error);
    return 0;
  }
  static Trace Small;
  if (Size)
    Small.change(Data + 1, Size - 1);
  readAll(Small.path());
  Small.restore();
  return 0;
}

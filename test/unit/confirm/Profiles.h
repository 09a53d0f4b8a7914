// A report in which everything is known, and a reader of its schema.
#ifndef TORCHTIDY_TEST_CONFIRM_PROFILES_H
#define TORCHTIDY_TEST_CONFIRM_PROFILES_H

#include "Recordings.h"
#include "profile/Profile.h"
#include <nlohmann/json.hpp>
#include <set>

namespace torchtidy::confirm {

/// Of a run on CUDA, with something of everything.
struct MadeReport : MadeRecording {
  MadeReport() {
    for (const char *Name : {"cuda-memory", "cuda-runtime"})
      Run.Capabilities[Name].IsAvailable = true;
    Run.Capabilities["heap"].Reason = "not asked for";
    Run.Capabilities["copies"].Reason = "those of other threads are not seen";
    Run.Process = 7;
    Run.Signal = 6;
    Run.CudaDevice = "NVIDIA H100";
    Run.PeakResidentBytes = 900;
    Site &Add = kept("aten::add_", {at(10), at(3, "main")}, 2, 36);
    Add.MostLiveBytes = 64;
    Add.Shapes = {{"Float[]", 2}};
    Add.Thrown = {{"c10::Error", "no </script>", 1}};
    sampleNodes(Add, [](uint64_t Hit) { return int64_t(36 * Hit); });
    Moment Peak;
    Peak.Kind = MomentKind::CudaPeak;
    Peak.Seconds = 1;
    Peak.CpuBytes = 64;
    Peak.CudaReserved = 128;
    Peak.ResidentBytes = 800;
    Peak.By = {{0, 64, 0, 72}};
    Run.Moments = {Peak};
    Run.Iterations = {{1, 0.1, 0.9, 0.2, 0.5, 0.6, 1, 2, 3, 4, 5, 6}};
    Run.IterationSite = 0;
    Run.IterationCount = 1;

    Of.Memory = Trend::Grows;
    Of.Headline = "memory grows";
    Of.Sites.resize(1);
    Cause Why;
    Why.Kind = CauseKind::KeptGraphs;
    Why.Line = at(10);
    Why.Stack = Add.Stack;
    Why.Sites = {0};
    Why.BytesPerUnit = 32;
    Why.NodesPerUnit = 36;
    Why.Share = 0.5;
    Why.Check = "torch-retained-graph";
    Why.Cure = "Keep the number.";
    Of.Causes = {Why};
    Of.Iterations = {{"first", Run.Iterations[0]}};
    Of.Epochs = {{1, 4, 0.5, 2, 64, 32}};
    Of.EvaluationHits = 3;
    PeakProfile Highest;
    Highest.Lines = {{at(10), {0}, 64, 72}};
    Highest.Varying = {{at(10), 5, 640}};
    Highest.ByModule = {{"net::EncoderImpl", 64}};
    Of.CpuPeak = Of.CudaPeak = Highest;
    Of.Times = {{"aten::add_", at(10), {0}, 0.5, 0.25, 2, 1}};
    CopyRow Copy;
    Copy.Line = at(11);
    Copy.Copies = {"cpu", "cuda", false, true, 5, 500};
    Of.Copies = {Copy};
    ModuleRow Encoder;
    Encoder.Path = "encoder";
    Encoder.ParameterBytes = Encoder.GradientBytes = 100;
    Encoder.BufferBytes = 8;
    Encoder.Parameters = Encoder.WithGradient = 2;
    Encoder.Buffers = 1;
    Encoder.Kinds = {"Float on cuda:0"};
    Encoder.StateBytes = 200;
    Of.Modules = {Encoder};
    Of.Devices = {{0, "NVIDIA H100", 0.4, 1.5, true, false}};
    Of.Looked = {{"gradients are cleared between steps", true, "", {}, ""},
                 {"nothing is copied twice",
                  false,
                  "9 of 10",
                  {"a.cpp", 3, "f"},
                  "torch-x"}};
    Of.Failure = FailedAllocation{
        0, 1.5, "c10::Error", "not enough memory", 512, false, 2, 0};
    Of.Oddities = {{"buffer 'mean' is on cpu", "mean"}};
  }

  Profile Of;
};

/// As much of JSON Schema as report.schema.json uses. What else there might be
/// in it is an error, so that no word of it goes unread.
class SchemaReader {
public:
  explicit SchemaReader(nlohmann::json Schema) : Root(std::move(Schema)) {}

  /// What is wrong, each with its place; empty: nothing.
  std::vector<std::string> check(const nlohmann::json &Value) {
    Errors.clear();
    check(Root, Value, "");
    return Errors;
  }

  /// Properties of the schema that no checked value has had.
  std::vector<std::string> neverSeen() const {
    std::vector<std::string> Result;
    collect(Root, "", Result);
    return Result;
  }

private:
  using Json = nlohmann::json;

  void check(const Json &Schema, const Json &Value, const std::string &Place) {
    for (const auto &[Word, Given] : Schema.items())
      if (!isRight(Word, Given, Schema, Value, Place))
        Errors.push_back(Place + ": " + Word + " " + Given.dump() + " and " +
                         Value.dump().substr(0, 80));
  }

  bool isRight(const std::string &Word, const Json &Given, const Json &Schema,
               const Json &Value, const std::string &Place) {
    if (Word == "$ref") {
      check(Root.at("$defs").at(Given.get<std::string>().substr(8)), Value,
            Place);
      return true;
    }
    if (Word == "type")
      return isType(Given, Value);
    if (Word == "const")
      return Value == Given;
    if (Word == "enum")
      return std::find(Given.begin(), Given.end(), Value) != Given.end();
    if (Word == "maximum")
      return Value <= Given;
    if (Word == "minimum")
      return Value >= Given;
    if (Word == "required")
      return std::all_of(Given.begin(), Given.end(), [&](const Json &Name) {
        return Value.contains(Name.get<std::string>());
      });
    if (Word == "items") {
      for (const Json &Each : Value)
        check(Given, Each, Place + "[]");
      return true;
    }
    if (Word == "properties") {
      for (const auto &[Name, Part] : Value.items())
        if (Given.contains(Name)) {
          Seen.insert(&Given.at(Name));
          check(Given.at(Name), Part, Place + "." + Name);
        }
      return true;
    }
    if (Word == "additionalProperties")
      return std::all_of(Value.items().begin(), Value.items().end(),
                         [&](const auto &Each) {
                           return Schema.at("properties").contains(Each.key());
                         });
    return std::set<std::string>{"description", "title", "$schema", "$defs"}
        .count(Word);
  }

  static bool isType(const Json &Given, const Json &Value) {
    if (Given.is_array())
      return std::any_of(Given.begin(), Given.end(),
                         [&](const Json &Each) { return isType(Each, Value); });
    const std::string Type = Given;
    return Type == Value.type_name() ||
           (Type == "integer" && Value.is_number_integer());
  }

  void collect(const Json &Schema, const std::string &Place,
               std::vector<std::string> &Into) const {
    if (!Schema.is_object())
      return;
    for (const auto &[Word, Part] : Schema.items()) {
      if (Word == "properties")
        for (const auto &[Name, Each] : Part.items())
          if (!Seen.count(&Each))
            Into.push_back(Place + "." + Name);
      collect(Part, Place + "/" + Word, Into);
    }
  }

  Json Root;
  std::vector<std::string> Errors;
  std::set<const Json *> Seen;
};

} // namespace torchtidy::confirm

#endif

#include "recording/Symbolizer.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

/// The first of them that is installed, with the options that make it print as
/// addr2line does.
std::vector<std::string> symbolizer() {
  // By what they cost: seconds for a hundred addresses are the same for the
  // first two, and give the same lines.
  for (const char *Name :
       {"llvm-symbolizer", "llvm-symbolizer-19", "llvm-symbolizer-18",
        "llvm-symbolizer-17", "llvm-symbolizer-16", "llvm-symbolizer-15",
        "llvm-symbolizer-14"})
    if (const fs::path Program = findOnPath(Name); !Program.empty())
      return {Program.string(), "--output-style=GNU", "-a", "-i", "-f", "-C"};
  if (const fs::path Program = findOnPath("addr2line"); !Program.empty())
    return {Program.string(), "-a", "-i", "-f", "-C"};
  throw UserError("neither llvm-symbolizer nor addr2line was found, which tell "
                  "the lines of addresses (Debian: llvm or binutils)");
}

} // namespace

void requireSymbolizer() { symbolizer(); }

std::map<uint64_t, Frames> parseSymbols(const std::string &Text) {
  std::map<uint64_t, Frames> Result;
  Frames *Here = nullptr;
  std::istringstream Lines(Text);
  for (std::string Function; std::getline(Lines, Function);) {
    if (Function.rfind("0x", 0) == 0) {
      Here = &Result[std::stoull(Function, nullptr, 16)];
      continue;
    }
    std::string Place;
    if (!Here || !std::getline(Lines, Place))
      continue;
    // "file:12 (discriminator 3)"
    Place.erase(std::min(Place.find(" (discriminator"), Place.size()));
    const size_t Colon = Place.rfind(':');
    SourceLine Line;
    if (Colon != std::string::npos && std::isdigit(Place[Colon + 1]))
      Line.Line = std::stoul(Place.substr(Colon + 1));
    // "??:0", and functions without line numbers.
    if (Line.Line == 0 || Place.rfind("??", 0) == 0)
      continue;
    Line.File = fs::path(Place.substr(0, Colon)).lexically_normal().string();
    if (Function != "??")
      Line.Function = Function;
    Here->push_back(std::move(Line));
  }
  return Result;
}

std::map<uint64_t, Frames> symbolize(const AddressesOf &What) {
  if (What.Addresses.empty())
    return {};
  std::vector<std::string> Command = symbolizer();
  Command.insert(Command.end(), {"-e", What.Module});
  const TemporaryFolder Folder;
  const std::string Input = Folder.path() + "/addresses";
  {
    std::ofstream Stream(Input);
    Stream << std::hex;
    for (uint64_t Address : What.Addresses)
      Stream << "0x" << Address << '\n';
  }
  const Captured Done = capture(Command, {Input});
  if (Done.Code != 0 && Done.Output.empty())
    throw UserError("'" + Command[0] + "' cannot tell the lines of '" +
                    What.Module + "': " + Done.Errors);
  return parseSymbols(Done.Output);
}

bool isOfLibraries(const std::string &File) {
  auto Has = [&](const char *Part) {
    return File.find(Part) != std::string::npos;
  };
  // Not all of /usr: containers have programs in /usr/src and /usr/local.
  for (const char *Folder :
       {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/",
        "/usr/local/lib/", "/usr/local/cuda"})
    if (File.rfind(Folder, 0) == 0)
      return true;
  return Has("/include/torch/") || Has("/include/ATen/") ||
         Has("/include/c10/") || Has("/include/caffe2/") ||
         Has("/include/c++/") || Has("/libstdc++-v3/") ||
         Has("/libsanitizer/") || Has("/compiler-rt/") || Has("/sysdeps/") ||
         Has("/nvidia/cuda_runtime/") || Has("/nvidia/cu13/") ||
         Has("/torch_confirm.h");
}

} // namespace torchtidy::confirm

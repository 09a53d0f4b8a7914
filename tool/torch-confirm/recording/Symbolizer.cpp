#include "recording/Symbolizer.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

/// Of symbolizeEach(): 9,400 addresses take 0.15 s.
constexpr unsigned MostSeconds = 60;

/// The first of them that is installed, with the options that make it print as
/// addr2line does.
using Words = std::vector<std::string>;

Words symbolizer(bool WithNames) {
  // By what they cost: seconds for a hundred addresses are the same for the
  // first two, and give the same lines.
  for (const char *Name :
       {"llvm-symbolizer", "llvm-symbolizer-19", "llvm-symbolizer-18",
        "llvm-symbolizer-17", "llvm-symbolizer-16", "llvm-symbolizer-15",
        "llvm-symbolizer-14"})
    if (const fs::path Program = findOnPath(Name); !Program.empty())
      return WithNames ? Words{Program.string(),
                               "--output-style=GNU",
                               "-a",
                               "-i",
                               "-f",
                               "-C"}
                       : Words{Program.string(), "--output-style=GNU", "-a",
                               "-i", "-f=none"};
  if (const fs::path Program = findOnPath("addr2line"); !Program.empty())
    return WithNames ? Words{Program.string(), "-a", "-i", "-f", "-C"}
                     : Words{Program.string(), "-a", "-i"};
  throw UserError("neither llvm-symbolizer nor addr2line was found, which tell "
                  "the lines of addresses (Debian: llvm or binutils)");
}

/// "file:12 (discriminator 3)". Line 0 where there is none: "??:0", and
/// functions without line numbers.
SourceLine placeOf(std::string Place) {
  Place.erase(std::min(Place.find(" (discriminator"), Place.size()));
  const size_t Colon = Place.rfind(':');
  SourceLine Line;
  if (Colon == std::string::npos || !std::isdigit(Place[Colon + 1]) ||
      Place.rfind("??", 0) == 0)
    return Line;
  // A number that fits none stays 0: no line.
  std::from_chars(Place.data() + Colon + 1, Place.data() + Place.size(),
                  Line.Line);
  Line.File = fs::path(Place.substr(0, Colon)).lexically_normal().string();
  return Line;
}

/// A file with these addresses, one a line.
void writeAddresses(const AddressesOf &What, const std::string &Path) {
  std::ofstream Stream(Path);
  Stream << std::hex;
  for (uint64_t Address : What.Addresses)
    Stream << "0x" << Address << '\n';
}

[[noreturn]] void refuse(const Words &Command, const AddressesOf &What,
                         const std::string &Why) {
  throw UserError("'" + Command[0] + "' cannot tell the lines of '" +
                  What.Module + "': " + Why);
}

} // namespace

void requireSymbolizer() { symbolizer(true); }

std::map<uint64_t, Frames> parseSymbols(const std::string &Text) {
  std::map<uint64_t, Frames> Result;
  Frames *Here = nullptr;
  std::istringstream Lines(Text);
  for (std::string Function; std::getline(Lines, Function);) {
    if (Function.rfind("0x", 0) == 0) {
      uint64_t Address = 0;
      const auto Read = std::from_chars(
          Function.data() + 2, Function.data() + Function.size(), Address, 16);
      Here = Read.ec == std::errc() ? &Result[Address] : nullptr;
      continue;
    }
    std::string Place;
    if (!Here || !std::getline(Lines, Place))
      continue;
    SourceLine Line = placeOf(std::move(Place));
    if (Line.Line == 0)
      continue;
    if (Function != "??")
      Line.Function = Function;
    Here->push_back(std::move(Line));
  }
  return Result;
}

std::map<uint64_t, Frames> symbolize(const AddressesOf &What) {
  if (What.Addresses.empty())
    return {};
  Words Command = symbolizer(true);
  Command.insert(Command.end(), {"-e", What.Module});
  const TemporaryFolder Folder;
  const std::string Input = Folder.path() + "/addresses";
  writeAddresses(What, Input);
  const Captured Done = capture(Command, {Input});
  if (Done.Code != 0 && Done.Output.empty())
    refuse(Command, What, Done.Errors);
  return parseSymbols(Done.Output);
}

const std::map<uint64_t, Frames> &
SymbolCache::linesOf(const AddressesOf &What) {
  auto &OfModule = Known[What.Module];
  AddressesOf New;
  New.Module = What.Module;
  for (const uint64_t Address : What.Addresses)
    if (!OfModule.count(Address))
      New.Addresses.push_back(Address);
  for (auto &[Address, Lines] : symbolize(New))
    OfModule[Address] = std::move(Lines);
  // Those without a line, too, are known then.
  for (const uint64_t Address : New.Addresses)
    OfModule[Address];
  return OfModule;
}

void symbolizeEach(const AddressesOf &What,
                   const std::function<void(uint64_t, const Frames &)> &Take) {
  if (What.Addresses.empty())
    return;
  Words Command = symbolizer(false);
  Command.insert(Command.end(), {"-e", What.Module});
  const TemporaryFolder Folder;
  CaptureSettings How = limitedTo(MostSeconds);
  How.Input = Folder.path() + "/addresses";
  How.OutputFile = Folder.path() + "/lines";
  writeAddresses(What, How.Input);
  const Captured Done = capture(Command, How);
  if (!Done.succeeded())
    refuse(Command, What,
           Done.TimedOut
               ? "it took more than " + std::to_string(MostSeconds) + " s"
               : Done.Errors);
  std::ifstream Text(How.OutputFile);
  std::optional<uint64_t> Address;
  Frames Lines;
  auto Give = [&] {
    if (Address)
      Take(*Address, Lines);
    Lines.clear();
  };
  for (std::string Word; std::getline(Text, Word);) {
    if (Word.rfind("0x", 0) == 0) {
      Give();
      Address = std::stoull(Word, nullptr, 16);
    } else if (SourceLine Line = placeOf(std::move(Word)); Line.Line) {
      Lines.push_back(std::move(Line));
    }
  }
  Give();
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

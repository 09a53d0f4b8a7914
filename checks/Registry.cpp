#include "Registry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchtidy {

static constexpr CheckInfo Rows[] = {
#define CHECK(Name, Class, Level, Folder, Priority, Evidence)                  \
  {Name, Level, #Folder, Priority, Evidence},
#include "Checks.def"
};

llvm::ArrayRef<CheckInfo> registry() { return Rows; }

const CheckInfo *findCheck(llvm::StringRef Name) {
  const auto *It = llvm::find_if(
      Rows, [&](const CheckInfo &Row) { return Row.Name == Name; });
  return It == std::end(Rows) ? nullptr : It;
}

bool tellsMinor(llvm::StringRef Check) {
  return llvm::StringSwitch<bool>(Check)
      .Cases("torch-allocate-on-device", "torch-allocation-in-loop", true)
      .Cases("torch-cat-in-loop", "torch-element-access-in-loop", true)
      .Default(false);
}

std::string checksUpToLevel(unsigned Level) {
  std::string Globs;
  for (const CheckInfo &Row : Rows) {
    if (Row.Level > Level)
      continue;
    if (!Globs.empty())
      Globs += ',';
    Globs += Row.Name;
  }
  return Globs;
}

} // namespace torchtidy

// Small files as a whole.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_TEXT_H
#define TORCHTIDY_CONFIRM_SCENARIOS_TEXT_H

#include "cli/Errors.h"
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace torchtidy::confirm::scenarios {

inline std::string readText(const std::filesystem::path &File) {
  std::ifstream Stream(File);
  if (!Stream)
    throw UserError("cannot read " + File.string());
  std::ostringstream Text;
  Text << Stream.rdbuf();
  return Text.str();
}

inline void writeText(const std::filesystem::path &File,
                      const std::string &Text) {
  std::error_code Ignored;
  std::filesystem::create_directories(File.parent_path(), Ignored);
  std::ofstream Stream(File);
  Stream << Text;
  if (!Stream.flush())
    throw UserError("cannot write " + File.string());
}

} // namespace torchtidy::confirm::scenarios

#endif

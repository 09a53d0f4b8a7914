// The findings of the example application (test/apps/example), as they are
// committed for machines without the analyzer: test/apps/made/example.sarif,
// with paths from the root of the sources, without the texts of pages and
// fixes.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_EXAMPLE_H
#define TORCHTIDY_CONFIRM_SCENARIOS_EXAMPLE_H

#include <filesystem>
#include <string>

namespace torchtidy::confirm::scenarios {

class Example {
public:
  /// Work: a folder to configure the application in. LibTorch: empty where
  /// CMake is to find it.
  Example(std::filesystem::path Source, std::filesystem::path Analyzer,
          std::filesystem::path Work, std::string LibTorch);

  /// Asks the analyzer.
  std::string findings() const;
  bool isStale(const std::string &Findings) const;
  /// Says so when it writes.
  void write(const std::string &Findings) const;

private:
  std::filesystem::path committed() const;

  std::filesystem::path Source, Analyzer, Work;
  std::string LibTorch;
};

} // namespace torchtidy::confirm::scenarios

#endif

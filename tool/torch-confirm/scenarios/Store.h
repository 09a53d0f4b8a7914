// Results of checks that outlast the run: each is written when it is there, and
// the next run of the same goes on with those that are missing.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_STORE_H
#define TORCHTIDY_CONFIRM_SCENARIOS_STORE_H

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace torchtidy::confirm::scenarios {

/// What results depend on, by name: "sources", "LibTorch", "device", ...
using RunKey = std::map<std::string, std::string>;

/// A folder with run.json (the key), <check>.json for each check that is done,
/// and times.json (how long each took when it was last run, whatever the key).
class Store {
public:
  using Json = nlohmann::ordered_json;

  /// Takes the folder for itself; makes it where there is none. What is there
  /// of another key is moved into <folder>/earlier-<number>. Throws UserError
  /// where another process has it, or it cannot be written.
  Store(std::filesystem::path Where, const RunKey &Key);
  ~Store();
  Store(const Store &) = delete;
  Store &operator=(const Store &) = delete;

  /// Why it begins anew though something was there; empty where it does not.
  const std::string &whyAnew() const { return Why; }

  /// Nothing where there is none, or it cannot be read.
  std::optional<Json> find(const std::string &Check) const;
  /// On the disk when this returns.
  void keep(const std::string &Check, const Json &Result, double Seconds);

  std::optional<double> secondsOf(const std::string &Check) const;
  /// It was ended after so long, and would have taken longer.
  void tookLonger(const std::string &Check, double Seconds);
  /// Of all that are known: the median. Nothing where none is.
  std::optional<double> usualSeconds() const;

private:
  void setAside();
  void noteSeconds(const std::string &Check, double Seconds);

  std::filesystem::path Folder;
  int Lock = -1;
  std::string Why;
  std::map<std::string, double> Times;
};

} // namespace torchtidy::confirm::scenarios

#endif

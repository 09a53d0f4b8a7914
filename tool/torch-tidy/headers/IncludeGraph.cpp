#include "headers/IncludeGraph.h"
#include "cache/Bytes.h"

using namespace llvm;

namespace torchtidy::tool {

unsigned IncludeGraph::numberOf(StringRef Name) {
  const auto [It, IsNew] = Numbers.try_emplace(Name, unsigned(Names.size()));
  if (IsNew) {
    Names.push_back(Name.str());
    Included.emplace_back();
  }
  return It->second;
}

void IncludeGraph::add(StringRef From, StringRef To) {
  const unsigned Its = numberOf(From), Other = numberOf(To);
  Included[Its].insert(Other);
}

bool IncludeGraph::reaches(ArrayRef<std::string> From, StringRef To) const {
  std::set<unsigned> Seen;
  std::vector<unsigned> Work;
  const auto Meet = [&](unsigned Number) {
    if (Seen.insert(Number).second)
      Work.push_back(Number);
  };
  for (const std::string &Name : From)
    if (const auto It = Numbers.find(Name); It != Numbers.end())
      Meet(It->second);
  while (!Work.empty()) {
    const unsigned Number = Work.back();
    Work.pop_back();
    if (Names[Number] == To)
      return true;
    for (const unsigned Next : Included[Number])
      Meet(Next);
  }
  return false;
}

std::string IncludeGraph::encode() const {
  Writer Out;
  Out.list(Names, [&](const std::string &Name) { Out.text(Name); });
  Out.list(Included, [&](const std::set<unsigned> &Each) {
    std::vector<unsigned> Sorted(Each.begin(), Each.end());
    Out.list(Sorted, [&](unsigned &Number) { Out.integer(Number); });
  });
  return std::move(Out.Bytes);
}

void IncludeGraph::decode(StringRef Bytes) {
  Reader In(Bytes);
  std::vector<std::string> Files;
  std::vector<std::vector<unsigned>> Edges;
  In.list(Files, [&](std::string &Name) { In.text(Name); });
  In.list(Edges, [&](std::vector<unsigned> &Each) {
    In.list(Each, [&](unsigned &Number) { In.integer(Number); });
  });
  if (In.hasFailed() || Files.size() != Edges.size())
    return;
  for (size_t From = 0; From < Files.size(); ++From)
    for (const unsigned To : Edges[From])
      if (To < Files.size())
        add(Files[From], Files[To]);
}

} // namespace torchtidy::tool

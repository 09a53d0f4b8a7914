// The model of a source, and its entries by the names of their roots.
#ifndef TORCHTIDY_TEST_UNIT_MODEL_MODEL_H
#define TORCHTIDY_TEST_UNIT_MODEL_MODEL_H

#include "model/execution/Program.h"
#include "support/Parse.h"
#include "gtest/gtest.h"

namespace torchtidy::test {

/// One entry of a source, and its events by what is written at their sites.
class Entry {
public:
  Entry(model::Program &Program, const model::Execution &Execution)
      : Program(Program), Execution(Execution) {}

  const model::Execution *operator->() const { return &Execution; }
  const model::Execution &operator*() const { return Execution; }

  /// All events of a kind.
  template <class EventT> std::vector<const EventT *> all() const {
    std::vector<const EventT *> Result;
    for (const EventT &E : Execution.events<EventT>())
      Result.push_back(&E);
    return Result;
  }
  /// The text of the sites of all events of a kind, in source order.
  template <class EventT> std::vector<std::string> sites() const {
    return sitesOf(any<EventT>());
  }
  /// The only event of a kind at sites with this text.
  template <class EventT> const EventT &event(llvm::StringRef Site) const {
    static const EventT None(nullptr);
    const model::Event *Found = onlyAt(any<EventT>(), Site);
    return Found ? *llvm::cast<EventT>(Found) : None;
  }

  /// What a query found on this entry.
  template <class Fact> std::vector<Fact> of(std::vector<Fact> Facts) const {
    llvm::erase_if(
        Facts, [&](const Fact &Found) { return Found.Entry != &Execution; });
    return Facts;
  }

  /// What is known of a tensor at observe(Name, tensor), which every source of
  /// these tests can call. It must be reached once.
  const model::Value &observed(llvm::StringRef Name) const;
  /// The possibilities of grad mode there.
  uint8_t gradMode(llvm::StringRef Name) const;

  /// The name of the only place of a set.
  std::string placeOf(const model::PlaceSet &Places) const;

private:
  using Events = std::vector<const model::Event *>;
  template <class EventT> Events any() const {
    const std::vector<const EventT *> Typed = all<EventT>();
    return Events(Typed.begin(), Typed.end());
  }
  std::vector<std::string> sitesOf(Events All) const;
  const model::Event *onlyAt(const Events &All, llvm::StringRef Site) const;
  const model::EscapeEvent &observation(llvm::StringRef Name) const;

  model::Program &Program;
  const model::Execution &Execution;
};

class Model {
public:
  explicit Model(llvm::StringRef Code, const ParseOptions &Options = {});

  bool isRead() const { return Unit != nullptr; }
  model::Program &program() { return *Program; }
  clang::ASTContext &context() { return Unit->getASTContext(); }
  /// The entry whose root has this name. Fails the test when there is none.
  Entry entry(llvm::StringRef Root);
  bool hasEntry(llvm::StringRef Root);
  const clang::FunctionDecl *function(llvm::StringRef Name) {
    return findFunction(*Unit, Name);
  }

private:
  std::unique_ptr<clang::ASTUnit> Unit;
  std::unique_ptr<model::Program> Program;
};

/// Tests that share one source: parsing LibTorch's header takes a second. A
/// source is a member `static const char Code[]` of the fixture Derived.
template <class Derived> class ModelTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    Shared = std::make_unique<Model>(Derived::Code);
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }

  static Entry entry(llvm::StringRef Root) { return Shared->entry(Root); }

  static inline std::unique_ptr<Model> Shared;
};

} // namespace torchtidy::test

#endif

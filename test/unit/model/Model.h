// The model of a source, and the ways into it by the names of their roots.
#ifndef TORCHTIDY_TEST_UNIT_MODEL_MODEL_H
#define TORCHTIDY_TEST_UNIT_MODEL_MODEL_H

#include "model/Program.h"
#include "support/Parse.h"
#include "gtest/gtest.h"

namespace torchtidy::test {

/// One way into a source, and its events by what is written at their sites.
class Way {
public:
  Way(model::Program &Program, const model::Execution &Execution)
      : Program(Program), Execution(Execution) {}

  const model::Execution *operator->() const { return &Execution; }
  const model::Execution &operator*() const { return Execution; }

  std::vector<const model::Event *> all(model::EventKind Kind) const;
  /// The text of the sites of all events of a kind, in source order.
  std::vector<std::string> sites(model::EventKind Kind) const;
  /// The only event of a kind at sites with this text.
  const model::Event &event(model::EventKind Kind, llvm::StringRef Site) const;

  /// What is known of a tensor at observe(Name, tensor), which every source of
  /// these tests can call. It must be reached once.
  const model::Value &observed(llvm::StringRef Name) const;
  /// The possibilities of grad mode there.
  uint8_t gradMode(llvm::StringRef Name) const;

  /// The name of the only place of an event.
  std::string placeOf(const model::Event &E) const;

private:
  const model::Event &observation(llvm::StringRef Name) const;

  model::Program &Program;
  const model::Execution &Execution;
};

class Model {
public:
  explicit Model(llvm::StringRef Code, const ParseOptions &Options = {});

  bool isRead() const { return Unit != nullptr; }
  model::Program &program() { return *Program; }
  clang::ASTContext &context() { return Unit->getASTContext(); }
  /// The way whose root has this name. Fails the test when there is none.
  Way way(llvm::StringRef Root);
  bool hasWay(llvm::StringRef Root);
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

  static Way way(llvm::StringRef Root) { return Shared->way(Root); }

  static inline std::unique_ptr<Model> Shared;
};

} // namespace torchtidy::test

#endif

// Small views that are kept with all of their storage. The tests of
// torch-view-pins-storage (test/checks) have more programs.
#include "memory/ViewPinsStorage.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ViewPinsStorageTest : ModelTest<ViewPinsStorageTest> {
  static const char Code[];
  static std::vector<ViewPinsStorage> ask(llvm::StringRef Root) {
    return entry(Root).of(findViewPinsStorage(Shared->program()));
  }
};

const char ViewPinsStorageTest::Code[] = R"cpp(
using torch::Tensor;

void inLoop(int n) {
  std::vector<Tensor> rows;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 4096});
    rows.push_back(batch[0]);
  }
}
struct Log {
  void add() {
    Tensor batch = torch::rand({64, 4096});
    rows.push_back(batch[0]);
  }
  std::vector<Tensor> rows;
};
void saved(const Tensor &images) { torch::save(images[9], "image.pt"); }

void perhapsOfAnother(int n, const Tensor &given, bool b) {
  std::vector<Tensor> rows;
  for (int i = 0; i < n; ++i) {
    Tensor batch = b ? given : torch::rand({64, 4096});
    rows.push_back(batch[5]);
  }
}
void keptAnyway(int n) {
  std::vector<Tensor> rows, all;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 4096});
    rows.push_back(batch[0]);
    all.push_back(batch);
  }
}
void ofOne(int n) {
  std::vector<Tensor> rows;
  Tensor batch = torch::rand({64, 4096});
  for (int i = 0; i < n; ++i)
    rows.push_back(batch[i]);
}
void once() {
  std::vector<Tensor> rows;
  rows.push_back(torch::rand({64, 4096})[0]);
}
)cpp";

} // namespace

TEST_F(ViewPinsStorageTest, InALoop) {
  const std::vector<ViewPinsStorage> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Around);
  EXPECT_TRUE(Found[0].Place);
  EXPECT_FALSE(Found[0].IsSaved);
  ASSERT_TRUE(Found[0].Maker);
  EXPECT_EQ(Shared->program().text(Found[0].Maker), "torch::rand({64, 4096})");
}

TEST_F(ViewPinsStorageTest, OverCalls) {
  const std::vector<ViewPinsStorage> Found = ask("Log::add");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].Around);
  EXPECT_EQ(Found[0].Entry->places().name(*Found[0].Place), "rows");
}

TEST_F(ViewPinsStorageTest, InAFile) {
  const std::vector<ViewPinsStorage> Found = ask("saved");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].IsSaved);
  EXPECT_FALSE(Found[0].Place);
}

TEST_F(ViewPinsStorageTest, Quiet) {
  for (const char *Root : {"perhapsOfAnother", "keptAnyway", "ofOne", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

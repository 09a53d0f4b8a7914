// Data that each worker of a loader has a copy of. The tests of
// torch-dataset-copied (test/checks) have more programs.
#include "memory/DatasetCopied.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DatasetCopiedTest : ModelTest<DatasetCopiedTest> {
  static const char Code[];
  static std::vector<DatasetCopied> ask(llvm::StringRef Root) {
    return entry(Root).of(findDatasetCopied(Shared->program()));
  }
};

const char DatasetCopiedTest::Code[] = R"cpp(
using torch::data::DataLoaderOptions;

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t) override {
    return {torch::ones({2}), torch::ones({})};
  }
  torch::optional<size_t> size() const override { return 100; }
  std::vector<int64_t> labels;
  std::vector<std::vector<float>> rows;
};
void several(int workers) {
  torch::data::make_data_loader(Rows(), DataLoaderOptions(8).workers(3));
}
void passed(size_t workers) {
  torch::data::make_data_loader(Rows(), DataLoaderOptions(8).workers(workers));
}
void one() {
  torch::data::make_data_loader(Rows(), DataLoaderOptions(8).workers(1));
}
void none() { torch::data::make_data_loader(Rows(), DataLoaderOptions(8)); }
void again(Rows &data, int days) {
  for (int day = 0; day < days; ++day)
    torch::data::make_data_loader(data, 8);
}
void another(int days) {
  for (int day = 0; day < days; ++day) {
    Rows data;
    torch::data::make_data_loader(data, 8);
  }
}
)cpp";

} // namespace

TEST_F(DatasetCopiedTest, SeveralWorkers) {
  const std::vector<DatasetCopied> Found = ask("several");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Workers, 3);
  EXPECT_EQ(Found[0].Dataset->getName(), "Rows");
  EXPECT_EQ(Found[0].Data->getName(), "rows");
}

TEST_F(DatasetCopiedTest, EachIteration) {
  const std::vector<DatasetCopied> Found = ask("again");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Around, nullptr);
  EXPECT_EQ(Found[0].Parameter, nullptr);
}

TEST_F(DatasetCopiedTest, Quiet) {
  for (const char *Root : {"passed", "one", "none", "another"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// RUN: %check_torch %s torch-view-pins-storage %t -still-warns
//
// A file gets all of the storage of each tensor that is written into it.

#include <torch/torch.h>

#include <fstream>

using torch::Tensor;

void samples(const Tensor &images) {
  torch::save(images[3], "sample.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: a view is a small part of a tensor, and all of the tensor's memory goes into the file; save '.clone()' of it [torch-view-pins-storage]
  // CHECK-FIXES: torch::save(images[3].clone(), "sample.pt");
  Tensor data = torch::rand({1000, 32});
  Tensor head = data.slice(0, 0, 10);
  torch::save(head, "head.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'head' is a small part of a tensor, and all of the tensor's memory goes into the file; save 'head.clone()'
  // CHECK-FIXES: torch::save(head.clone(), "head.pt");
  torch::serialize::OutputArchive archive;
  archive.write("column", data.select(1, 5));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: a view is a small part
  // CHECK-FIXES: archive.write("column", data.select(1, 5).clone());
  archive.save_to("archive.pt");
  std::ofstream stream("raw");
  const std::vector<char> bytes = torch::pickle_save(data[2]);
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: a view is a small part
  // CHECK-FIXES: const std::vector<char> bytes = torch::pickle_save(data[2].clone());
  stream.write(bytes.data(), bytes.size());
}

// A list of them.
void rows(const Tensor &all) {
  std::vector<Tensor> chosen = {all[4], all[9]};
  torch::save(chosen, "chosen.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: a view is a small part
}

void right(const Tensor &images, torch::nn::Linear net, int64_t i) {
  torch::save(images, "all.pt");
  torch::save(images[3].clone(), "sample.pt");
  torch::save(images[i], "any.pt"); // Of how many is not known.
  torch::save(images[0], "first.pt");
  torch::save(images.t(), "turned.pt");
  torch::save(torch::rand({8, 8})[5], "few.pt");
  torch::save(net, "net.pt");
  torch::save(torch::softmax(images[5], 0), "computed.pt");
}

// REQUIRES: doctest, catch2
// RUN: %check_torch %s torch-missing-no-grad %t
//
// Tests that are functions, which a global hands to the framework.

#include <torch/torch.h>

#define CATCH_CONFIG_PREFIX_ALL
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <catch2/catch.hpp>
#include <doctest/doctest.h>

#include <functional>

using torch::Tensor;
using torch::nn::Linear;

DOCTEST_TEST_CASE("a network has the right shape") {
  Linear net(8, 2);
  net->eval();
  DOCTEST_CHECK(net->forward(torch::rand({3, 8})).size(1) == 2);
}

CATCH_TEST_CASE("a network has the right shape") {
  Linear net(8, 2);
  net->eval();
  CATCH_CHECK(net->forward(torch::rand({3, 8})).size(1) == 2);
}

struct WithNetwork {
  WithNetwork() { net->eval(); }
  Linear net{8, 2};
};

DOCTEST_TEST_CASE_FIXTURE(WithNetwork, "a network repeats itself") {
  const Tensor x = torch::ones({1, 8});
  DOCTEST_CHECK(net->forward(x).equal(net->forward(x)));
}

CATCH_TEST_CASE_METHOD(WithNetwork, "a network repeats itself") {
  const Tensor x = torch::ones({1, 8});
  CATCH_CHECK(net->forward(x).equal(net->forward(x)));
}

// Handed to something else.
static float score() {
  Linear net(8, 2);
  net->eval();
  return net->forward(torch::ones({1, 8})).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

static const std::function<float()> Scoring = score;

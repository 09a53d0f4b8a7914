// RUN: %check_torch %s torch-retained-graph %t
//
// Members that are filled call by call, with the loop elsewhere: quiet unless all
// code that reads them is known to leave the graph behind. See readers.cpp.

#include "Inputs/open.h"

#include <iostream>

using torch::Tensor;
using torch::nn::Linear;

// ----- other files can read them -----

void PublicMembers::act(Tensor state) {
  values.push_back(policy->forward(state));
}
float PublicMembers::last() const { return values.back().item<float>(); }

void MethodElsewhere::act(Tensor state) {
  values.push_back(policy->forward(state));
}
float MethodElsewhere::last() const { return values.back().item<float>(); }

void FriendElsewhere::act(Tensor state) {
  values.push_back(policy->forward(state));
}
float FriendElsewhere::last() const { return values.back().item<float>(); }

// ----- somebody here wants the graph -----

class Reinforce {
public:
  int64_t act(Tensor state) {
    auto logProb = torch::log_softmax(policy->forward(state), -1);
    auto action = logProb.exp().multinomial(1);
    logProbs.push_back(logProb.gather(-1, action));
    return action.item<int64_t>();
  }
  float lastProbability() const { return logProbs.back().exp().item<float>(); }
  void update(torch::optim::Adam &opt, Tensor returns) {
    opt.zero_grad();
    (-(torch::stack(logProbs).squeeze() * returns).sum()).backward();
    opt.step();
    logProbs.clear();
  }

private:
  Linear policy{8, 4};
  std::vector<Tensor> logProbs;
};

class HandsOut {
public:
  void act(Tensor state) { values.push_back(policy->forward(state)); }
  float last() const { return values.back().item<float>(); }
  const std::vector<Tensor> &all() const { return values; }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

class Computes {
public:
  void act(Tensor state) { values.push_back(policy->forward(state)); }
  float last() const { return values.back().item<float>(); }
  Tensor mean() const { return torch::stack(values).mean(); }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

void report(const std::vector<Tensor> &values);

class GivesAway {
public:
  void act(Tensor state) { values.push_back(policy->forward(state)); }
  float last() const { return values.back().item<float>(); }
  void end() { report(values); }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

class FeedsNetwork {
public:
  void act(Tensor state) { features.push_back(encoder->forward(state)); }
  float last() const { return features.back().sum().item<float>(); }
  Tensor decide() { return head->forward(torch::stack(features)); }

private:
  Linear encoder{8, 8}, head{8, 2};
  std::vector<Tensor> features;
};

class KeepsElsewhere {
public:
  void act(Tensor state) { values.push_back(policy->forward(state)); }
  float last() const { return values.back().item<float>(); }
  void flush() {
    for (const Tensor &value : values)
      archive.push_back(value);
    values.clear();
  }
  Tensor loss() const { return torch::stack(archive).mean(); }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values, archive;
};

// ----- there is no graph, or it does not stay -----

class Guarded {
public:
  void act(Tensor state) {
    torch::NoGradGuard no_grad;
    values.push_back(policy->forward(state));
  }
  float last() const { return values.back().item<float>(); }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

class Detached {
public:
  void act(Tensor state) { values.push_back(policy->forward(state).detach()); }
  Tensor all() const { return torch::stack(values).detach(); }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

class PerCall {
public:
  void act(const std::vector<Tensor> &states) {
    values.clear();
    values.push_back(policy->forward(states.front()));
    std::cout << values.back().item<float>() << '\n';
  }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

// What it holds is never read: only its size is.
class Counts {
public:
  void act(Tensor state) { values.push_back(policy->forward(state)); }
  size_t size() const { return values.size(); }

private:
  Linear policy{8, 4};
  std::vector<Tensor> values;
};

// The environment's states have no graph.
class States {
public:
  void observe(Tensor state) { states.push_back(state); }
  Tensor all() const { return torch::stack(states).detach(); }

private:
  std::vector<Tensor> states;
};

// RUN: %check_torch %s torch-blob-lifetime %t
//
// A function that gets a std::unique_ptr by value owns what is in it, whoever had it before.

#include <torch/torch.h>

#include <array>
#include <deque>
#include <memory>
#include <vector>

using torch::Tensor;

struct Packet {
  std::array<float, 8> values{};
};
struct Sweep {
  Tensor values;
};
std::unique_ptr<Packet> receive();
void record(std::unique_ptr<Packet>);

// ----- positives -----

static Tensor madeThere(std::unique_ptr<Packet> packet) {
  return torch::from_blob(packet->values.data(), {8});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values', which ends with its scope
  // CHECK-FIXES: return torch::from_blob(packet->values.data(), {8}).clone();
}
Tensor made() {
  auto packet = std::make_unique<Packet>();
  return madeThere(std::move(packet));
}

static Tensor receivedThere(std::unique_ptr<Packet> packet) {
  return torch::from_blob(packet->values.data(), {8});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'packet.values', which ends with its scope
}
Tensor received() {
  auto packet = receive();
  return receivedThere(std::move(packet));
}

class Decoder {
public:
  Sweep decode(std::unique_ptr<Packet> packet, bool fast) const {
    Sweep sweep;
    if (fast)
      sweep.values = torch::from_blob(packet->values.data(), {8});
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: tensor still points into 'packet.values', which ends with its scope
    else
      sweep.values = torch::from_blob(packet->values.data(), {8}).clone();
    return sweep;
  }
};
float everyPacket(const Decoder &decoder, bool fast) {
  float sum = 0;
  while (auto packet = receive())
    sum += decoder.decode(std::move(packet), fast).values.sum().item<float>();
  return sum;
}

struct Window {
  void add(std::unique_ptr<Packet> packet) {
    last = torch::from_blob(packet->values.data(), {8});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'packet.values', which ends with its scope, and the tensor is kept in 'window.last'
  }
  Tensor last;
};
void fill(Window &window, std::deque<std::unique_ptr<Packet>> &queue) {
  auto packet = std::move(queue.front());
  queue.pop_front();
  window.add(std::move(packet));
}

// ----- negatives -----

// It is handed on, and lives as long as the tensor does.
struct Owner {
  void add(std::unique_ptr<Packet> packet) {
    last = torch::from_blob(packet->values.data(), {8});
    owned.push_back(std::move(packet));
  }
  void swap(std::unique_ptr<Packet> packet) {
    last = torch::from_blob(packet->values.data(), {8});
    current.swap(packet);
  }
  Tensor last;
  std::vector<std::unique_ptr<Packet>> owned;
  std::unique_ptr<Packet> current;
};
void keep(Owner &owner) {
  auto packet = receive();
  owner.add(std::move(packet));
  auto next = receive();
  owner.swap(std::move(next));
}

static Tensor released(std::unique_ptr<Packet> packet) {
  Packet *raw = packet.release();
  return torch::from_blob(raw->values.data(), {8}, [raw](void *) { delete raw; });
}
static Tensor recorded(std::unique_ptr<Packet> packet) {
  auto values = torch::from_blob(packet->values.data(), {8});
  record(std::move(packet));
  return values;
}
// It comes back with the tensor.
static std::pair<Tensor, std::unique_ptr<Packet>> both(std::unique_ptr<Packet> packet) {
  auto values = torch::from_blob(packet->values.data(), {8});
  return {values, std::move(packet)};
}
// A reference takes nothing.
static Tensor looked(std::unique_ptr<Packet> &&packet) { return torch::from_blob(packet->values.data(), {8}); }
static Tensor borrowed(const std::unique_ptr<Packet> &packet) {
  return torch::from_blob(packet->values.data(), {8});
}
static float used(std::unique_ptr<Packet> packet) {
  return torch::from_blob(packet->values.data(), {8}).sum().item<float>();
}
float all(Owner &owner) {
  auto a = receive(), b = receive(), c = receive(), d = receive(), e = receive(), f = receive();
  owner.last = released(std::move(a)) + recorded(std::move(b));
  auto [values, kept] = both(std::move(c));
  return (values + looked(std::move(d)) + borrowed(e)).sum().item<float>() + used(std::move(f));
}

// What the caller has laid over another packet of the same line does not end with this one.
float first(std::vector<std::unique_ptr<Packet>> &kept, int n) {
  std::vector<Tensor> all;
  for (int i = 0; i < n; ++i) {
    auto packet = std::make_unique<Packet>();
    if (i % 2) {
      used(std::move(packet));
      continue;
    }
    all.push_back(torch::from_blob(packet->values.data(), {8}));
    kept.push_back(std::move(packet));
  }
  return torch::stack(all).sum().item<float>();
}

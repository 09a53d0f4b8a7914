// Teaches a swarm of drones to hold their place in gusty wind.
//
//   hover train     [--steps N] [--joint] [--check N] [--gentle] [--save FILE]
//   hover reinforce [--steps N]
//   hover fly       [--load FILE]

#include <ATen/DeviceAccelerator.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;
namespace optim = torch::optim;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
constexpr int64_t kState = 6;   // place and speed, against the goal
constexpr int64_t kAction = 3;  // thrust less the weight
constexpr double kThrust = 2.0, kArena = 4.0, kTick = 0.1, kDiscount = 0.95;

struct Args {
    int64_t steps = 40;
    int64_t check = 0;  // test flights every so many steps
    bool joint = false;
    bool gentle = false;
    std::string save, load;
    torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
};

// What the motors make of a command: they saturate.
struct Motors : torch::autograd::Function<Motors> {
    static Tensor forward(AutogradContext* ctx, const Tensor& command, double limit) {
        auto thrust = torch::tanh(command / limit) * limit;
        ctx->saved_data["limit"] = limit;  // RIGHT: torch-saved-data (a number holds no graph)
        ctx->saved_data["thrust"] = thrust;  // EXPECT: torch-saved-data
        return thrust;
    }
    static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
        const auto part = ctx->saved_data["thrust"].toTensor() / ctx->saved_data["limit"].toDouble();
        return {gradients[0] * (1.0 - part.square()), Tensor()};
    }
};

// The square of how far a place lies outside of the arena; its gradient is damped far out.
struct Fence : torch::autograd::Function<Fence> {
    static Tensor forward(AutogradContext* ctx, const Tensor& place) {
        auto outside = place - place.clamp(-kArena, kArena);
        auto cost = outside.square();
        ctx->save_for_backward({outside, cost});  // RIGHT: torch-saved-data (saved variables know an output)
        return cost;
    }
    static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
        const auto saved = ctx->get_saved_variables();
        return {gradients[0] * 2.0 * saved[0] / (1.0 + saved[1])};
    }
};

nn::Sequential layers(int64_t in, int64_t out) {
    return nn::Sequential(nn::Linear(in, 48), nn::Tanh(), nn::Linear(48, 48), nn::Tanh(), nn::Linear(48, out));
}

struct PilotImpl : nn::Module {
    PilotImpl() : body(register_module("body", layers(kState, kAction))) {}
    Tensor forward(const Tensor& states) { return Motors::apply(body->forward(states), kThrust); }
    nn::Sequential body;
};
TORCH_MODULE(Pilot);

// Of a state and an action: their value, or the state that follows.
struct PairNetImpl : nn::Module {
    explicit PairNetImpl(int64_t out) : body(register_module("body", layers(kState + kAction, out))) {}
    Tensor forward(const Tensor& states, const Tensor& actions) { return body->forward(torch::cat({states, actions}, -1)); }
    nn::Sequential body;
};
TORCH_MODULE(PairNet);

// The first commands of a new pilot are small ones.
void start_gently(Pilot& pilot) {
    auto& last = *pilot->body->ptr<nn::LinearImpl>(4);
    nn::init::zeros_(last.bias);  // RIGHT: torch-leaf-inplace (the initializer has its own guard)
    last.weight.mul_(0.1);  // EXPECT: torch-leaf-inplace
}

template <typename Net>
void follow(Net& behind, const Net& ahead, double share) {
    torch::NoGradGuard no_grad;
    auto to = behind->parameters();
    const auto from = ahead->parameters();
    for (size_t i = 0; i < to.size(); ++i) to[i].lerp_(from[i], share);  // RIGHT: torch-leaf-inplace (under the guard)
}

class Swarm {
public:
    Swarm(int64_t drones, torch::Device device)
        : states_(torch::randn({drones, kState}, device)), wind_(torch::zeros({drones, kAction}, device)) {}

    const Tensor& states() const { return states_; }

    // Flies for a tick; the rewards.
    Tensor step(const Tensor& actions) {
        torch::NoGradGuard no_grad;
        auto place = states_.slice(1, 0, 3), speed = states_.slice(1, 3);
        speed.add_(actions, kTick).add_(wind_.normal_(), 0.3 * kTick).mul_(0.98);
        place.add_(speed, kTick);
        const auto away = place.square().sum(1);
        return -(away + 0.1 * speed.square().sum(1) + 0.01 * actions.square().sum(1)).clamp_max(20.0);
    }

    // Those that have left the arena begin anew.
    void rescue() {
        torch::NoGradGuard no_grad;
        states_.masked_fill_(states_.slice(1, 0, 3).abs().amax(1, true).gt(kArena), 0.5);
    }

    Tensor lost() const { return states_.slice(1, 0, 3).abs().amax(1).gt(kArena).sum(); }
    double distance() const { return states_.slice(1, 0, 3).norm(2, 1).mean().item<double>(); }

private:
    Tensor states_;  // [drones, kState]
    Tensor wind_;
};

struct Batch { Tensor states, actions, next, rewards; };

class Replay {
public:
    Replay(int64_t size, torch::Device device)
        : device_(device),
          states_(torch::zeros({size, kState}, device)),
          actions_(torch::zeros({size, kAction}, device)),
          next_(torch::zeros({size, kState}, device)),
          rewards_(torch::zeros({size}, device)) {}

    void add(const Batch& batch) {
        TORCH_CHECK(batch.states.device() == device_, "these flights are on another device");  // EXPECT: torch-device-comparison
        TORCH_CHECK(batch.rewards.device() == rewards_.device(), "these rewards too");  // RIGHT: torch-device-comparison (both have their index)
        const int64_t count = batch.states.size(0);
        const int64_t first = added_ % (states_.size(0) - count + 1);
        states_.narrow(0, first, count).copy_(batch.states);
        actions_.narrow(0, first, count).copy_(batch.actions);
        next_.narrow(0, first, count).copy_(batch.next);
        rewards_.narrow(0, first, count).copy_(batch.rewards);
        added_ += count;
    }

    Batch sample(int64_t count) const {
        const auto rows = torch::randint(std::min(added_, states_.size(0)), {count}, torch::dtype(torch::kLong).device(device_));
        return {states_.index_select(0, rows), actions_.index_select(0, rows), next_.index_select(0, rows),
                rewards_.index_select(0, rows)};
    }

private:
    torch::Device device_;
    Tensor states_, actions_, next_, rewards_;
    int64_t added_ = 0;
};

void explore(Pilot& pilot, Swarm& swarm, Replay& replay, int64_t ticks) {
    torch::AutoGradMode off(false);  // RIGHT: torch-grad-mode-not-restored (its end restores it)
    for (int64_t tick = 0; tick < ticks; ++tick) {
        const auto before = swarm.states().clone();  // RIGHT: torch-redundant-transfer (the step changes them in place)
        const auto intent = pilot->forward(before);
        const auto actions = (intent + 0.4 * torch::randn_like(intent)).clamp(-kThrust, kThrust);
        const auto rewards = swarm.step(actions);
        replay.add({before, actions, swarm.states(), rewards});
        swarm.rescue();
    }
}

// Learns from a plain controller first, so that the first flights are not all lost.
void imitate(Pilot& pilot, const torch::Device& device, int steps) {
    optim::Adam optimizer(pilot->parameters(), optim::AdamOptions(3e-3));
    const auto states = torch::randn({256, kState}, device);
    const auto wanted = (-0.6 * states.slice(1, 0, 3) - 0.8 * states.slice(1, 3)).clamp(-kThrust, kThrust);
    const auto parts = states.chunk(4), goals = wanted.chunk(4);
    for (int step = 0; step < steps; ++step) {
        optimizer.zero_grad();
        for (size_t i = 0; i < parts.size(); ++i)
            (torch::mse_loss(pilot->forward(parts[i]), goals[i]) / 4.0).backward();  // RIGHT: torch-missing-zero-grad (four parts make one step)
        optimizer.step();
    }
}

double fit_dynamics(PairNet& dynamics, const Replay& replay, int steps) {
    optim::SGD optimizer(dynamics->parameters(), 1e-3);
    Tensor last;
    for (int step = 0; step < steps; ++step) {
        const auto batch = replay.sample(64);
        const auto loss = torch::mse_loss(dynamics->forward(batch.states, batch.actions), batch.next - batch.states);
        loss.backward();  // EXPECT: torch-missing-zero-grad
        optimizer.step();
        last = loss.detach();
    }
    return last.item<double>();
}

struct Team {
    Pilot pilot, late_pilot;
    PairNet critic{1}, late_critic{1}, dynamics{kState};
    optim::Adam pilot_steps, critic_steps;

    explicit Team(const torch::Device& device)
        : pilot_steps(pilot->parameters(), optim::AdamOptions(5e-4)),
          critic_steps(critic->parameters(), optim::AdamOptions(2e-3)) {
        for (auto* net : {&critic, &late_critic, &dynamics}) (*net)->to(device);
        for (auto* net : {&pilot, &late_pilot}) (*net)->to(device);
        follow(late_critic, critic, 1.0);
    }

    Tensor pilot_loss(const Batch& batch) {
        const auto actions = pilot->forward(batch.states);
        const auto ahead = batch.states + dynamics->forward(batch.states, actions);
        const auto cost = Fence::apply(ahead.slice(1, 0, 3)).mean();
        return cost - critic->forward(batch.states, actions).mean();  // RIGHT: torch-undetached-generator-output (the pilot learns through the critic)
    }

    Tensor value_loss(const Batch& batch) {
        return torch::mse_loss(critic->forward(batch.states, batch.actions).squeeze(1), goal(batch));
    }

    Tensor goal(const Batch& batch) {
        torch::NoGradGuard no_grad;
        const auto later = late_critic->forward(batch.next, late_pilot->forward(batch.next)).squeeze(1);
        return batch.rewards + kDiscount * later;
    }

    // The critic's step and then the pilot's.
    void learn(const Batch& batch) {
        critic_steps.zero_grad();
        value_loss(batch).backward();
        critic_steps.step();
        pilot_steps.zero_grad();
        pilot_loss(batch).backward();  // RIGHT: torch-stale-graph (its graph was made after the critic's step)
        pilot_steps.step();
    }

    // Both losses of the same weights.
    void learn_jointly(const Batch& batch) {
        const auto value = value_loss(batch), cost = pilot_loss(batch);
        critic_steps.zero_grad();
        value.backward();
        critic_steps.step();
        pilot_steps.zero_grad();
        cost.backward();  // EXPECT: torch-stale-graph
        pilot_steps.step();
    }
};

// How far from their goals a test flight leaves the drones, unless some are lost.
std::optional<double> test_flight(Pilot& pilot, const torch::Device& device) {
    torch::autograd::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    Swarm swarm(64, device);
    for (int tick = 0; tick < 60; ++tick) swarm.step(pilot->forward(swarm.states()));
    if (swarm.lost().item<int64_t>() > 0) return std::nullopt;
    const double distance = swarm.distance();
    torch::autograd::GradMode::set_enabled(true);
    return distance;
}

// How far one drone flew from the waypoints of its plan.
double path_error(Pilot& pilot, const std::vector<float>& plan, const torch::Device& device) {
    torch::NoGradGuard no_grad;
    const auto waypoints = torch::tensor(plan).view({-1, 3});
    Swarm swarm(waypoints.size(0), device);
    for (int tick = 0; tick < 30; ++tick) swarm.step(pilot->forward(swarm.states()));
    const auto off = (swarm.states().slice(1, 0, 3) - waypoints).norm(2, 1);  // EXPECT: torch-device-mismatch
    const auto allowed = torch::tensor(0.2);
    return (off - allowed).clamp_min(0.0).mean().item<double>();  // RIGHT: torch-device-mismatch (a scalar of the host goes with any device)
}

int train(const Args& args) {
    Team team(args.device);
    if (args.gentle) start_gently(team.pilot);
    imitate(team.pilot, args.device, 40);
    follow(team.late_pilot, team.pilot, 1.0);
    Swarm swarm(64, args.device);
    Replay replay(4096, args.device);
    explore(team.pilot, swarm, replay, 20);
    std::printf("dynamics off by %.5f\n", fit_dynamics(team.dynamics, replay, 60));
    for (auto& p : team.dynamics->parameters()) p.requires_grad_(false);

    for (int64_t step = 1; step <= args.steps; ++step) {
        explore(team.pilot, swarm, replay, 1);
        const auto batch = replay.sample(128);
        args.joint ? team.learn_jointly(batch) : team.learn(batch);
        follow(team.late_pilot, team.pilot, 0.02);
        follow(team.late_critic, team.critic, 0.02);
        if (args.device.is_cuda()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
        if (args.check > 0 && step % args.check == 0)
            std::printf("step %lld  %.3f m\n", static_cast<long long>(step), test_flight(team.pilot, args.device).value_or(-1.0));
    }
    if (args.device.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop (once, before the next program on this GPU)
    std::printf("holds within %.3f m, path %.3f m\n", swarm.distance(),
                path_error(team.pilot, {0.0f, 0.0f, 0.0f, 0.1f, 0.0f, 0.2f}, args.device));
    if (!args.save.empty()) torch::save(team.pilot, args.save);
    return 0;
}

struct Flight { Tensor states, actions, gains; };

Flight record(Pilot& pilot, Swarm& swarm, int64_t ticks) {
    c10::InferenceMode inference;
    std::vector<Tensor> states, actions, rewards;
    for (int64_t tick = 0; tick < ticks; ++tick) {
        states.push_back(swarm.states().clone());
        const auto intent = pilot->forward(states.back());
        actions.push_back(intent + 0.3 * torch::randn_like(intent));
        rewards.push_back(swarm.step(actions.back()));
        swarm.rescue();
    }
    const auto gains = torch::stack(rewards).flip(0).cumsum(0).flip(0);
    return {torch::stack(states), torch::stack(actions), (gains - gains.mean()) / gains.std()};
}

// Plain policy gradient, to compare with.
int reinforce(const Args& args) {
    Pilot pilot;
    pilot->to(args.device);
    Swarm swarm(64, args.device);
    optim::Adam optimizer(pilot->parameters(), optim::AdamOptions(1e-3));
    for (int64_t round = 0; round < args.steps; ++round) {
        const auto flight = record(pilot, swarm, 20);
        const auto off = flight.actions - pilot->forward(flight.states);  // EXPECT: torch-inference-tensor
        const auto loss = ((off / 0.3).square().sum(-1) * 0.5 * flight.gains).mean();
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
    }
    std::printf("holds within %.3f m\n", swarm.distance());
    return 0;
}

int fly(const Args& args) {
    Pilot pilot;
    if (!args.load.empty()) torch::load(pilot, args.load);
    pilot->to(args.device);
    c10::InferenceMode inference;
    Swarm swarm(16, args.device);  // RIGHT: torch-inference-tensor (used within this mode only)
    for (int tick = 0; tick < 100; ++tick) swarm.step(pilot->forward(swarm.states()));
    std::printf("holds within %.3f m\n", swarm.distance());
    return 0;
}

int main(int argc, char** argv) {
    const std::map<std::string, std::function<int(const Args&)>> commands{
        {"train", train}, {"reinforce", reinforce}, {"fly", fly}};
    Args args;
    std::string command = "train";
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (commands.count(word)) command = word;
        else if (word == "--joint") args.joint = true;
        else if (word == "--gentle") args.gentle = true;
        else if (word == "--cpu") args.device = torch::kCPU;
        else if (word == "--steps" && i + 1 < argc) args.steps = std::stoll(argv[++i]);
        else if (word == "--check" && i + 1 < argc) args.check = std::stoll(argv[++i]);
        else if (word == "--save" && i + 1 < argc) args.save = argv[++i];
        else if (word == "--load" && i + 1 < argc) args.load = argv[++i];
    }
    torch::set_num_threads(1);
    torch::manual_seed(31);
    return commands.at(command)(args);
}

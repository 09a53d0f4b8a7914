#include <torch/torch.h>
#include <deque>
#include <iostream>
#include <random>

// A DQN agent on a one-dimensional "stay in the middle" task.
using torch::Tensor;

struct Transition
{
    Tensor state, next;
    int64_t action;
    float reward;
    bool done;
};

struct QNetImpl : public torch::nn::Module
{
    QNetImpl(int64_t in, int64_t actions)
    {
        body = register_module("body", torch::nn::Sequential(
            torch::nn::Linear(in, 48), torch::nn::ReLU(), torch::nn::Linear(48, actions)));
    }
    Tensor forward(Tensor x) { return body->forward(x); }
    torch::nn::Sequential body{nullptr};
};
TORCH_MODULE(QNet);

class Agent
{
public:
    explicit Agent(torch::Device dev)
        : device(dev), online(3, 2), target(3, 2), optimizer(online->parameters(), torch::optim::RMSpropOptions(1e-3))
    {
        online->to(device);
        target->to(device);
        hardSync();
    }

    int64_t act(const Tensor& state, double epsilon)
    {
        if (uniform(rng) < epsilon)
            return uniform(rng) < 0.5 ? 0 : 1;
        torch::NoGradGuard noGrad;
        return online->forward(state.to(device).unsqueeze(0)).argmax(1).item<int64_t>(); // RIGHT: torch-missing-no-grad (guard in the line above)
    }

    void remember(Transition t)
    {
        if (memory.size() >= 2000)
            memory.pop_front();
        memory.push_back(std::move(t)); // RIGHT: torch-retained-graph (observations have no graph, and the buffer is bounded)
    }

    float learn(size_t batch)
    {
        std::vector<Tensor> states, nexts;
        std::vector<int64_t> actions;
        std::vector<float> rewards, alive;
        std::uniform_int_distribution<size_t> pick(0, memory.size() - 1);
        for (size_t i = 0; i < batch; ++i)
        {
            const auto& t = memory[pick(rng)];
            states.push_back(t.state.to(device)); // EXPECT: torch-repeated-transfer
            nexts.push_back(t.next);              // RIGHT: torch-repeated-transfer (moved once, after they are stacked)
            actions.push_back(t.action);
            rewards.push_back(t.reward);
            alive.push_back(t.done ? 0.f : 1.f);
        }
        auto s = torch::stack(states);
        auto n = torch::stack(nexts).to(device);
        auto a = torch::tensor(actions).to(device).unsqueeze(1);

        auto q = online->forward(s).gather(1, a).squeeze(1);
        auto best = std::get<0>(target->forward(n).max(1)); // EXPECT: torch-missing-no-grad
        auto goal = torch::tensor(rewards).to(device) + 0.97 * best * torch::tensor(alive).to(device);
        auto loss = torch::smooth_l1_loss(q, goal);

        optimizer.zero_grad();
        loss.backward();
        torch::nn::utils::clip_grad_norm_(online->parameters(), 5.0);
        optimizer.step();
        return loss.item<float>();
    }

    void hardSync()
    {
        for (size_t i = 0; i < online->parameters().size(); ++i)
            target->parameters()[i] = online->parameters()[i]; // EXPECT: torch-parameter-copy
    }

    void softSync(double tau)
    {
        torch::NoGradGuard noGrad;
        auto to = target->parameters();
        auto from = online->parameters();
        for (size_t i = 0; i < to.size(); ++i)
            to[i].mul_(1 - tau).add_(from[i], tau); // RIGHT: torch-parameter-copy (written in place, under a guard)
    }

    size_t filled() const { return memory.size(); }

private:
    torch::Device device;
    QNet online, target;
    torch::optim::RMSprop optimizer;
    std::deque<Transition> memory;
    std::mt19937 rng{17};
    std::uniform_real_distribution<double> uniform{0, 1};
};

int main()
{
    torch::manual_seed(2);
    Agent agent(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
    float x = 0.3f, v = 0, lossSum = 0;
    int updates = 0;
    auto observe = [&] { return torch::tensor({x, v, x * v}); };
    for (int step = 0; step < 600; ++step)
    {
        auto state = observe();
        auto action = agent.act(state, std::max(0.05, 1.0 - step / 300.0));
        v = 0.9f * v + (action == 1 ? 0.05f : -0.05f);
        x += v;
        const bool out = std::abs(x) > 1;
        agent.remember({state, observe(), action, out ? -1.f : 0.1f - std::abs(x) * 0.1f, out});
        if (out)
            x = v = 0;
        if (agent.filled() >= 64)
        {
            lossSum += agent.learn(32);
            ++updates;
            agent.softSync(0.01);
        }
        if (step % 200 == 199)
            agent.hardSync();
    }
    std::cout << "mean loss " << lossSum / updates << "\n";
    return 0;
}

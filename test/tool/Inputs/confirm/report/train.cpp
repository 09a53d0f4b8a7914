// Trains or serves, with or without a mistake, and ends as its argument says.
#include <torch/torch.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <mutex>
#include <new>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// What is kept is 32 KiB a step. Endless, it goes on more slowly when it has
// said so.
static double train(int steps, bool keeps, bool endless) {
  torch::manual_seed(1);
  auto layer = torch::nn::Linear(64, 64);
  torch::optim::SGD sgd(layer->parameters(),
                        torch::optim::SGDOptions(0.01).momentum(0.9));
  auto total = torch::zeros({});
  for (int i = 0; endless || i < steps; ++i) {
    if (endless && i == steps)
      std::cout << "ready" << std::endl;
    if (endless && i >= steps)
      usleep(5000);
    auto output = layer->forward(torch::ones({64, 64}));
    sgd.zero_grad();
    output.mean().backward();
    sgd.step();
    auto error = output.detach().mul(layer->weight.mean()).square().mean();
    total = total + (keeps ? error : error.detach()); // kept
  }
  return total.item<double>();
}

// Answers on two threads, and logs what it has answered.
static void serve(int requests) {
  std::mutex mutex;
  std::vector<torch::Tensor> log;
  const auto answer = [&] {
    torch::NoGradGuard guard;
    for (int i = 0; i < requests; ++i) {
      auto reply = torch::ones({64, 64}).relu(); // logged
      std::lock_guard<std::mutex> lock(mutex);
      log.push_back(reply);
      usleep(500);
    }
  };
  std::thread first(answer), second(answer);
  first.join();
  second.join();
}

// So many megabytes more than it has.
static void limit(rlim_t more) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit both = {};
  getrlimit(RLIMIT_AS, &both);
  both.rlim_cur =
      pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (more << 20);
  setrlimit(RLIMIT_AS, &both);
}

static void fill() {
  std::vector<torch::Tensor> all;
  for (;;)
    all.push_back(torch::empty({16 << 20})); // fills
}

static void end(const std::string &how) {
  if (how == "exit")
    exit(3);
  if (how == "killed")
    raise(SIGKILL);
  if (how == "crash")
    *static_cast<volatile int *>(nullptr) = 1;
  if (how == "throw")
    torch::ones({2}) + torch::ones({3});
  if (how == "wait") {
    std::cout << "ready" << std::endl;
    for (auto x = torch::ones({4});; x = x + 1)
      usleep(1000);
  }
  if (how == "oom" || how == "caught") {
    limit(512);
    if (how == "oom")
      fill();
    try {
      fill();
    } catch (const c10::Error &) {
      std::cout << "caught" << std::endl;
    }
  }
  if (how == "fill")
    fill();
  if (how == "bad_alloc") {
    limit(512);
    std::vector<double> huge(size_t(1) << 28); // huge
    std::cout << huge.size() << std::endl;
  }
  if (how == "echo")
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << "out " << line << '\n';
      std::cerr << "err " << line << '\n';
    }
}

int main(int count, char **words) {
  const std::string what = count > 1 ? words[1] : "grow",
                    how = count > 2 ? words[2] : "";
  // A busy disk may hold the first dozen looks up for a tenth of a second each.
  const int times = count > 3         ? std::stoi(words[3])
                    : what == "serve" ? 5000
                    : what == "level" ? 30000
                                      : 10000;
  if (what == "fork") {
    const pid_t child = fork();
    if (child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      return WEXITSTATUS(status);
    }
  }
  if (what == "serve")
    serve(times);
  else if (what != "nothing") {
    const double loss = train(times, what != "level", how == "endless");
    std::cout << "loss " << loss << std::endl;
  }
  end(how);
  return 0;
}

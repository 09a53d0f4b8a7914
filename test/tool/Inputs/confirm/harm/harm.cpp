// Keeps graphs, and then does what its argument says: all that a program may do
// which a probe could get in the way of. What it prints is the same in every
// run.
#include <torch/torch.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <spawn.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

extern char **environ;

static torch::Tensor keep(int times) {
  auto weight = torch::ones({8, 8}, torch::requires_grad());
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < times; ++i) {
    kept.push_back(weight * i); // kept
  }
  return torch::stack(kept).sum();
}

// Nobody calls it.
torch::Tensor unused() {
  torch::Tensor sum = torch::zeros({8});
  for (int i = 0; i < 100; ++i) {
    sum += torch::ones({8}); // never
  }
  return sum;
}

static void say(const std::string &text) { std::cout << text << std::endl; }

// Operations from lines that were not seen before, so that the probe has
// something to do.
static void work() {
  auto w = torch::ones({16, 16}, torch::requires_grad());
  for (int i = 0; i < 20; ++i)
    (w.matmul(w) + i).sum().backward();
  auto more =
      torch::arange(64).to(torch::kFloat).reshape({8, 8}).exp().log().relu();
  say("work " + std::to_string(w.grad().sum().item<float>()) + " " +
      std::to_string(more.sum().item<float>()));
}

static torch::Tensor step(const torch::Tensor &x, int way, int depth) {
  if (depth == 0)
    return ((x + 1) * 0.5).relu() + 1;
  if (way & 1)
    return step(x, way >> 1, depth - 1);
  return step(x, way >> 1, depth - 1);
}

static void ended(int status) { say("child " + std::to_string(status)); }

static void limit(int which, rlim_t most) {
  rlimit both = {most, most};
  if (setrlimit(static_cast<__rlimit_resource>(which), &both) != 0)
    std::perror("setrlimit");
}

static char **words;

static struct AtEnd {
  std::string mode;
  ~AtEnd() {
    if (mode == "static") {
      say("static " + std::to_string(torch::ones({3}).sum().item<float>()));
      std::abort();
    }
  }
} at_end;

// How it ends.

static void end_by(const std::string &how) {
  if (how == "abort")
    std::abort();
  if (how == "_exit")
    _exit(4);
  if (how == "segv")
    *static_cast<volatile int *>(nullptr) = 1;
  if (how == "kill")
    raise(SIGKILL);
  if (how == "throw")
    torch::ones({2}) + torch::ones({3});
  if (how == "static")
    at_end.mode = how;
  if (how == "quick_exit") {
    std::at_quick_exit([] { say("quickly"); });
    std::quick_exit(5);
  }
  if (how == "atexit") {
    std::atexit([] {
      say("atexit");
      std::exit(6);
    });
    std::exit(1);
  }
  if (how == "altstack") {
    static char stack[1 << 16];
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof(stack);
    sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int) {
      if (write(1, "overflow\n", 9) == 9)
        _exit(9);
    };
    sigaction(SIGSEGV, &action, nullptr);
    struct Deep {
      static int er(int depth) {
        volatile char frame[4096];
        frame[0] = static_cast<char>(depth);
        return er(depth + 1) + frame[0];
      }
    };
    std::exit(Deep::er(0));
  }
  if (how == "alarm") {
    alarm(1);
    for (auto x = torch::ones({4});; x = x + 1)
      usleep(1000);
  }
}

// Threads.

static void in_threads(const std::string &how) {
  auto busy = [] {
    for (auto x = torch::ones({4});; x = x + 1)
      usleep(100);
  };
  if (how == "thread-segv") {
    std::thread(busy).detach();
    std::thread([] { *static_cast<volatile int *>(nullptr) = 1; }).join();
  }
  if (how == "thread-throw")
    std::thread([] { torch::ones({2}).view({3}); }).join();
  if (how == "thread-exit") {
    std::thread([] { std::exit(5); }).join();
  }
  if (how == "main-leaves") {
    std::thread([] {
      usleep(100000);
      work();
      std::exit(7);
    }).detach();
    pthread_exit(nullptr);
  }
  if (how == "threads") {
    std::vector<std::thread> all;
    std::atomic<int> done{0};
    for (int i = 0; i < 200; ++i)
      all.emplace_back([&done] {
        auto w = torch::ones({8}, torch::requires_grad());
        for (int k = 0; k < 20; ++k)
          (w * 2).sum().backward();
        done += static_cast<int>(w.grad()[0].item<float>());
      });
    for (auto &each : all)
      each.join();
    say("threads " + std::to_string(done));
  }
  if (how == "small-stack") {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_t thread;
    pthread_create(
        &thread, &small,
        [](void *) -> void * {
          work();
          return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);
  }
  if (how == "context") {
    static ucontext_t main_context, other;
    static char stack[1 << 20];
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof(stack);
    other.uc_link = &main_context;
    makecontext(&other, work, 0);
    swapcontext(&main_context, &other);
  }
}

// Other processes.

static void in_processes(const std::string &how) {
  int status = 0;
  char *self[] = {words[0], const_cast<char *>("return"), nullptr};
  if (how == "fork" || how == "_Fork" || how == "fork-segv") {
    const pid_t child =
        how == "_Fork" ? static_cast<pid_t>(syscall(SYS_fork)) : fork();
    if (child == 0) {
      work();
      if (how == "fork-segv")
        raise(SIGSEGV);
      _exit(3);
    }
    waitpid(child, &status, 0);
    ended(status);
  }
  if (how == "exec")
    execv(words[0], self);
  if (how == "exec-again") {
    // Three programs, one process.
    char *more[] = {words[0], const_cast<char *>("exec"), nullptr};
    execv(words[0], more);
  }
  if (how == "exec-clear") {
    clearenv();
    execv(words[0], self);
  }
  if (how == "vfork") {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", "echo vfork; exit 3", nullptr);
      _exit(127);
    }
    waitpid(child, &status, 0);
    ended(status);
    work();
  }
  if (how == "spawn") {
    pid_t child = 0;
    posix_spawn(&child, words[0], nullptr, nullptr, self, environ);
    waitpid(child, &status, 0);
    ended(status);
  }
  if (how == "system") {
    ended(system("echo system; kill -9 $$"));
  }
  if (how == "popen") {
    FILE *pipe = popen("echo popen; exit 3", "r");
    char line[80] = "";
    if (fgets(line, sizeof(line), pipe))
      std::cout << line;
    ended(pclose(pipe));
  }
  if (how == "daemon") {
    if (daemon(/*nochdir=*/1, /*noclose=*/1) != 0)
      _exit(1);
    work();
    usleep(300000);
    say("daemon");
  }
  if (how == "orphan") {
    // It is told to end after two seconds; nobody else is.
    if (fork() == 0) {
      for (;;)
        pause();
    }
    if (fork() == 0) {
      if (fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
          pause();
      }
      _exit(0);
    }
    say("ready");
    for (;;)
      pause();
  }
}

// What it takes from itself.

static void without(const std::string &how) {
  if (how == "closed") {
    syscall(SYS_close_range, 3, ~0U, 0);
    work();
  }
  if (how == "no-files") {
    limit(RLIMIT_NOFILE, 3);
    work();
  }
  if (how == "file-size") {
    limit(RLIMIT_FSIZE, 4096);
    work();
    const int file = open(words[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const std::string much(100000, 'x');
    for (int i = 0; i < 2; ++i)
      if (write(file, much.data(), much.size()) < 0)
        _exit(11);
  }
  if (how == "address-space") {
    limit(RLIMIT_AS, 1 << 20);
    try {
      torch::empty({int64_t(1) << 28});
    } catch (const std::exception &) {
      say("no memory");
    }
    work();
  }
  if (how == "folder") {
    if (chdir("/") == 0)
      work();
  }
  if (how == "root") {
    if (chroot(words[2]) != 0 || chdir("/") != 0)
      _exit(12);
    work();
    if (fork() == 0) {
      work();
      _exit(0);
    }
    wait(nullptr);
  }
  if (how == "user") {
    if (setgid(65534) != 0 || setuid(65534) != 0)
      _exit(12);
    work();
  }
  if (how == "environment") {
    clearenv();
    work();
    ended(system("/bin/echo cleared"));
  }
  if (how == "sandbox") {
    work(); // LibTorch opens files itself the first time
    // As a sandbox has it: from now on whoever opens a file is killed.
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    sock_fprog all = {sizeof(filter) / sizeof(*filter), filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
      _exit(13);
    // From many ways of calls that were not seen before.
    auto x = torch::ones({8});
    for (int way = 0; way < 3 * 64; ++way)
      x = step(x, way % 64, 6);
    say("sandbox " + std::to_string(x.sum().item<float>()));
  }
}

// What it reads, writes and is told.

static void talk(const std::string &how) {
  if (how == "output") {
    const std::string block(1 << 20, '.');
    for (int i = 0; i < 1 << 10; ++i)
      std::cout.write(block.data(), block.size());
    work();
  }
  if (how == "pipe")
    for (int i = 0;; ++i)
      std::cout << i << '\n';
  if (how == "echo") {
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << "out " << line << '\n';
      std::cerr << "err " << line << '\n';
    }
    std::exit(3);
  }
  if (how == "close-output") {
    // Whoever reads it is to see its end, and then makes a file.
    say("closing");
    close(0);
    close(1);
    for (int i = 0; i < 500 && access(words[2], F_OK) != 0; ++i)
      usleep(10000);
    std::_Exit(access(words[2], F_OK) == 0 ? 0 : 14);
  }
  if (how == "wait") {
    say("ready");
    for (auto x = torch::ones({4});; x = x + 1)
      usleep(1000);
  }
  if (how == "told") {
    // The first request is noted, the second one ends it.
    static volatile sig_atomic_t told = 0;
    struct sigaction action = {};
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    action.sa_handler = [](int number) { told = number; };
    for (int each : {SIGINT, SIGTERM, SIGUSR1, SIGHUP})
      sigaction(each, &action, nullptr);
    say("ready");
    for (auto x = torch::ones({4});; x = x + 1) {
      usleep(1000);
      if (const int number = told) {
        told = 0;
        say("told " + std::to_string(number));
      }
    }
  }
  if (how == "stop") {
    say("stopping");
    raise(SIGTSTP);
    say("goes on");
  }
  if (how == "timer") {
    static volatile sig_atomic_t ticks = 0;
    signal(SIGALRM, [](int) { ticks = ticks + 1; });
    const itimerval every = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &every, nullptr);
    for (int i = 0; i < 20; ++i)
      work();
    say(ticks > 0 ? "ticks" : "no ticks");
  }
}

// What it finds itself in.

static void state() {
  for (int file = 0; file < 64; ++file) {
    struct stat status;
    if (fstat(file, &status) == 0)
      say("file " + std::to_string(file) + " of type " +
          std::to_string(status.st_mode & S_IFMT));
  }
  for (int each :
       {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGCHLD, SIGTSTP}) {
    struct sigaction action;
    sigset_t blocked;
    sigaction(each, nullptr, &action);
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    say("signal " + std::to_string(each) + ": " +
        std::to_string(action.sa_handler == SIG_IGN) +
        std::to_string(action.sa_handler == SIG_DFL) +
        std::to_string(sigismember(&blocked, each)));
  }
  for (int each = 0; each < RLIM_NLIMITS; ++each) {
    rlimit both;
    getrlimit(static_cast<__rlimit_resource>(each), &both);
    say("limit " + std::to_string(each) + ": " + std::to_string(both.rlim_cur) +
        " " + std::to_string(both.rlim_max));
  }
  char folder[4096];
  say(getcwd(folder, sizeof(folder)) ? folder : "no folder");
  const mode_t mask = umask(0);
  umask(mask);
  say("mask " + std::to_string(mask) + " name " + words[0] + " nice " +
      std::to_string(getpriority(PRIO_PROCESS, 0)) + " session's group " +
      std::to_string(getpgrp() == getsid(0)) + " terminal " +
      std::to_string(isatty(0)) + std::to_string(tcgetpgrp(0) == getpgrp()));
  std::vector<std::string> variables;
  for (char **each = environ; *each; ++each)
    variables.push_back(*each);
  std::sort(variables.begin(), variables.end());
  for (const std::string &each : variables)
    if (each.rfind("TORCH_CONFIRM_", 0) != 0 &&
        each.rfind("LD_PRELOAD=", 0) != 0 && each.rfind("_=", 0) != 0)
      say(each);
}

static void compute(const std::string &how) {
  if (how == "state")
    state();
  if (how == "deterministic")
    say("deterministic " +
        std::to_string(at::globalContext().deterministicAlgorithms()) +
        std::to_string(at::globalContext().deterministicAlgorithmsWarnOnly()));
  if (how == "numbers") {
    torch::manual_seed(1);
    auto net =
        torch::nn::Sequential(torch::nn::Linear(8, 16), torch::nn::Dropout(0.5),
                              torch::nn::Linear(16, 1));
    torch::optim::Adam adam(net->parameters(), 0.01);
    for (int i = 0; i < 30; ++i) {
      adam.zero_grad();
      auto loss = net->forward(torch::rand({4, 8})).pow(2).mean();
      loss.backward();
      adam.step();
      std::printf("%a\n", loss.item<double>());
    }
    for (int i = 0; i < 3; ++i)
      std::printf("%d\n", rand());
    feenableexcept(FE_DIVBYZERO);
    work();
    errno = 77;
    try {
      torch::ones({2}).view({3});
    } catch (const c10::Error &) {
      std::printf("errno %d\n", errno);
    }
  }
}

int main(int count, char **arguments) {
  words = arguments;
  const std::string mode = count > 1 ? arguments[1] : "return";
  say("sum " + std::to_string(keep(40).item<float>()));
  end_by(mode);
  in_threads(mode);
  in_processes(mode);
  without(mode);
  talk(mode);
  compute(mode);
  return mode == "return" ? 2 : 0;
}

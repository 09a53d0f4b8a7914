// Lines that run no operation of LibTorch's: those that run, and those that do not, in
// programs that use signals, threads and processes in all ways.
#include "lines.h"
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// What is kept must not be optimised away.
volatile int Sink;
static std::vector<int> Kept;
static int Last;

struct AtStart {
  AtStart() {
    Kept.push_back(1); // static
  }
} Start;

__attribute__((noinline)) void store(int Each, bool IsOdd) {
  Kept.push_back(Each); // store
  Last = Each;          // assign
  if (IsOdd) {
    Kept.push_back(-Each); // store never
    Last = -Each;          // assign never
  }
  Sink = Last;
}

__attribute__((noinline)) void several(int Number) {
  Keeper<int> Ints;
  Keeper<double> Doubles;
  for (int I = 0; I < Number; ++I)
    Doubles.keep(I);
  if (Number < 0) {
    Ints.keepMore(1);
    Doubles.keepMore(1);
  }
  auto Later = [&](int Each) {
    Kept.push_back(Each); // lambda
  };
  auto Never = [&](int Each) {
    Kept.push_back(Each); // lambda never
  };
  if (Number > 0)
    Later(Number);
  else
    Never(Number);
  keepInlined(Kept, Number);
  Sink = int(Doubles.Kept.size() + Ints.Kept.size());
}

static void inThreads() {
  // All come to the line at about the same time.
  pthread_barrier_t All;
  pthread_barrier_init(&All, nullptr, 16);
  std::vector<std::thread> Threads;
  std::vector<std::vector<int>> Each(16);
  for (int I = 0; I < 16; ++I)
    Threads.emplace_back([&, I] {
      pthread_barrier_wait(&All);
      Each[I].push_back(I); // threads
    });
  for (std::thread &One : Threads)
    One.join();
  printf("threads %d\n", Each[15][0]);
}

static void inChild() {
  fflush(stdout);
  const pid_t Child = fork();
  if (Child == 0) {
    Kept.push_back(7); // child
    printf("child %d\n", Kept.back());
    fflush(stdout);
    _exit(3);
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  printf("child ended with %d\n", WEXITSTATUS(Status));
}

static volatile sig_atomic_t Traps;
static std::vector<int> InHandler(8);
static void onTrap(int) {
  InHandler[0] = 1; // handler
  Traps = Traps + 1;
}

static sigjmp_buf Back;
static void jumpBack(int, siginfo_t *Info, void *) {
  printf("sent by the program itself: %d\n", Info->si_pid == getpid());
  siglongjmp(Back, 1);
}

static void own(const std::string &How) {
  if (How == "handler") {
    signal(SIGTRAP, onTrap);
    store(1, false);
    raise(SIGTRAP);
    raise(SIGTRAP);
    struct sigaction Now;
    sigaction(SIGTRAP, nullptr, &Now);
    printf("traps %d, own handler %d\n", int(Traps), Now.sa_handler == onTrap);
    Last = Traps; // after handler
  } else if (How == "jump") {
    struct sigaction Jump = {};
    Jump.sa_sigaction = jumpBack;
    Jump.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &Jump, nullptr);
    for (int I = 0; I < 2; ++I)
      if (sigsetjmp(Back, 1) == 0)
        raise(SIGTRAP);
    store(1, false);
    puts("back");
  } else if (How == "once") {
    struct sigaction Once = {};
    Once.sa_handler = onTrap;
    Once.sa_flags = SA_RESETHAND;
    sigfillset(&Once.sa_mask);
    sigaction(SIGTRAP, &Once, nullptr);
    raise(SIGTRAP);
    store(1, false);
    fflush(stdout);
    raise(SIGTRAP);
  } else if (How == "instruction") {
    struct sigaction Own = {};
    Own.sa_handler = onTrap;
    sigaction(SIGTRAP, &Own, nullptr);
    __asm__ volatile("int3");
    store(1, false);
    printf("traps %d\n", int(Traps));
  } else if (How == "ignored") {
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    store(1, false);
    puts("ignored");
  }
}

static void blocked(const std::string &How) {
  sigset_t All, Before, Now;
  sigfillset(&All);
  pthread_sigmask(SIG_BLOCK, &All, &Before);
  std::thread([] { store(1, false); }).join();
  several(3);
  sigprocmask(SIG_SETMASK, nullptr, &Now);
  printf("blocked %d, before %d\n", sigismember(&Now, SIGTRAP),
         sigismember(&Before, SIGTRAP));
  if (How == "waits") {
    raise(SIGTRAP);
    int Number = 0;
    sigset_t Trap;
    sigemptyset(&Trap);
    sigaddset(&Trap, SIGTRAP);
    sigwait(&Trap, &Number);
    printf("waited for %d\n", Number);
    Last = Number; // after wait
  }
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  sigprocmask(SIG_SETMASK, nullptr, &Now);
  printf("blocked %d\n", sigismember(&Now, SIGTRAP));
}

static int opened(const char *Library) {
  void *Handle = dlopen(Library, RTLD_NOW);
  if (!Handle) {
    puts(dlerror());
    return 1;
  }
  auto Run = reinterpret_cast<int (*)(int)>(dlsym(Handle, "pluginRun"));
  printf("plugin %d\n", Run(4));
  return 0;
}

static void withoutFiles() {
  while (open("/dev/null", O_RDONLY) >= 0)
    ;
  store(1, false);
  puts("no file is left");
}

int main(int Count, char **Words) {
  const std::string How = Count > 1 ? Words[1] : "";
  printf("%g\n", work());
  if (How == "" || How == "again" || How == "program") {
    store(Count, Count > 9);
    several(Count);
  } else if (How == "threads") {
    inThreads();
  } else if (How == "fork") {
    inChild();
  } else if (How == "exec") {
    fflush(stdout);
    execl(Words[0], Words[0], "again", static_cast<char *>(nullptr));
  } else if (How == "system") {
    fflush(stdout);
    printf("ended with %d\n",
           system((std::string(Words[0]) + " program").c_str()));
  } else if (How == "blocked" || How == "waits") {
    blocked(How);
  } else if (How == "files") {
    withoutFiles();
  } else if (How == "open") {
    return opened(Words[2]);
  } else if (How == "default") {
    fflush(stdout);
    raise(SIGTRAP);
  } else {
    own(How);
  }
  printf("%d\n", Last);
}

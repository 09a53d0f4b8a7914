// TorchTidy.so: what users give to clang-tidy's -load.
//
// clang-tidy takes a plugin that does not fit without a word, or prints "-load
// request ignored", and exits with 0: a gate that checks nothing. The plugin's
// own code cannot prevent that, because it is never reached or already broken.
// So this library refers to nothing of LLVM, loads everywhere, looks at its
// host, and loads TorchTidyChecks.so, which lies beside it, or ends the
// process.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BuiltForMajor = TORCH_TIDY_LLVM_MAJOR };

static const char ChecksName[] = "TorchTidyChecks.so";

/// The constructor that every check calls, as the libstdc++ ABI of this plugin
/// spells it.
static const char CheckConstructor[] = "_ZN5clang4tidy14ClangTidyCheckC2EN4llvm"
                                       "9StringRefEPNS0_16ClangTidyContextE";
/// There where LLVM was built with run-time type information, as in Debian's
/// and LLVM's own Debian packages, and missing in the wheel of PyPI.
static const char CheckTypeInfo[] = "_ZTIN5clang4tidy14ClangTidyCheckE";
/// torch-tidy defines it.
static const char BuiltIn[] = "torch_tidy_has_checks_built_in";

static void fail(const char *Format, ...) {
  va_list Arguments;
  va_start(Arguments, Format);
  fflush(stdout);
  fputs("TorchTidy.so: error: ", stderr);
  vfprintf(stderr, Format, Arguments);
  va_end(Arguments);
  fputs("\n", stderr);
  fflush(stderr);
  // No exit(): the host is in the middle of loading this library.
  _exit(1);
}

/// The host does not fit: what to use instead.
#define FAIL_HOST(Format, ...)                                                 \
  fail(Format "\nThe torch checks do not run. Use clang-tidy-%d of Debian, "   \
              "Ubuntu or apt.llvm.org (apt-get install clang-tidy-%d), or "    \
              "torch-tidy, which needs no plugin.",                            \
       ##__VA_ARGS__, BuiltForMajor, BuiltForMajor)

static int findLLVM(struct dl_phdr_info *Info, size_t Size, void *Result) {
  const char *Slash = strrchr(Info->dlpi_name, '/');
  const char *Name = Slash ? Slash + 1 : Info->dlpi_name;
  (void)Size;
  if (strncmp(Name, "libLLVM", 7) != 0)
    return 0;
  snprintf((char *)Result, NAME_MAX, "%s", Name);
  return 1;
}

static void checkHost(void) {
  // Since LLVM 16, and only in a shared libLLVM.
  void (*GetVersion)(unsigned *, unsigned *, unsigned *);
  unsigned Major = 0, Minor = 0, Patch = 0;
  char Library[NAME_MAX + 1] = "";

  *(void **)&GetVersion = dlsym(RTLD_DEFAULT, "LLVMGetVersion");
  if (!GetVersion) {
    if (dl_iterate_phdr(findLLVM, Library))
      FAIL_HOST("this program uses %s; the plugin is built for LLVM %d.",
                Library, BuiltForMajor);
    FAIL_HOST(
        "this program carries LLVM inside (the clang-tidy of PyPI or of an "
        "LLVM release archive does): no plugin can use it.");
  }
  GetVersion(&Major, &Minor, &Patch);
  if (Major != BuiltForMajor)
    FAIL_HOST(
        "this program uses LLVM %u.%u.%u; the plugin is built for LLVM %d.",
        Major, Minor, Patch, BuiltForMajor);
  if (!dlsym(RTLD_DEFAULT, CheckConstructor))
    FAIL_HOST("this program is no clang-tidy that plugins can be loaded into: "
              "ClangTidyCheck is not among its symbols.");
  if (!dlsym(RTLD_DEFAULT, CheckTypeInfo))
    FAIL_HOST("this clang-tidy is built without run-time type information; the "
              "plugin is built with it.");
}

/// The path of Name in the folder of File.
static void siblingPath(char *Out, size_t Size, const char *File,
                        const char *Name) {
  const char *Slash = strrchr(File, '/');
  int FolderLength = Slash ? (int)(Slash - File) + 1 : 0;
  snprintf(Out, Size, "%.*s%s", FolderLength, File, Name);
}

static void loadChecks(void) {
  Dl_info Self;
  char Real[PATH_MAX], Path[PATH_MAX + sizeof(ChecksName)];
  if (!dladdr((void *)&loadChecks, &Self) || !Self.dli_fname)
    fail(
        "cannot find out where this plugin lies; the torch checks do not run.");
  siblingPath(Path, sizeof(Path), Self.dli_fname, ChecksName);
  // Where this library is a link, the other lies beside its target.
  if (access(Path, F_OK) != 0 && realpath(Self.dli_fname, Real))
    siblingPath(Path, sizeof(Path), Real, ChecksName);
  if (!dlopen(Path, RTLD_NOW | RTLD_LOCAL))
    fail("cannot load %s, which belongs beside this file: %s\nThe torch "
         "checks do not run.",
         ChecksName, dlerror());
}

__attribute__((constructor)) static void start(void) {
  if (dlsym(RTLD_DEFAULT, BuiltIn))
    return;
  checkHost();
  loadChecks();
}

// Bytes as a file without a name, for what reads files by their path, or as one
// with a name in a folder of its own.
#ifndef TORCHTIDY_TEST_FUZZ_INPUT_H
#define TORCHTIDY_TEST_FUZZ_INPUT_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

class FileOf {
public:
  FileOf(const uint8_t *Data, size_t Size)
      : Descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (Descriptor < 0 || write(Descriptor, Data, Size) != ssize_t(Size))
      abort();
    lseek(Descriptor, 0, SEEK_SET);
  }
  explicit FileOf(const std::string &Text)
      : FileOf(reinterpret_cast<const uint8_t *>(Text.data()), Text.size()) {}
  ~FileOf() { close(Descriptor); }
  FileOf(const FileOf &) = delete;
  FileOf &operator=(const FileOf &) = delete;

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(Descriptor);
  }

private:
  int Descriptor;
};

/// It goes when the program ends.
class Folder {
public:
  Folder() {
    char Name[] = "/tmp/torch-tidy-fuzz-XXXXXX";
    if (!mkdtemp(Name))
      abort();
    Path = Name;
  }
  ~Folder() {
    std::error_code Ignored;
    std::filesystem::remove_all(Path, Ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string path(const std::string &Name) const { return Path + "/" + Name; }
  void write(const std::string &Name, const std::string &Text) const {
    const std::filesystem::path File = path(Name);
    std::filesystem::create_directories(File.parent_path());
    std::ofstream(File, std::ios::binary) << Text;
  }
  /// The bytes, where "/here" stands for the folder.
  std::string named(const uint8_t *Data, size_t Size) const {
    const std::string Here = "/here";
    std::string Text(reinterpret_cast<const char *>(Data), Size);
    for (size_t At = 0; (At = Text.find(Here, At)) != std::string::npos;
         At += Path.size())
      Text.replace(At, Here.size(), Path);
    return Text;
  }

private:
  std::string Path;
};

#endif

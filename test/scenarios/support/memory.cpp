#include "memory.h"

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <execinfo.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace measure {
namespace {

thread_local int depth = 0;

using Stack = std::array<void *, 64>;

// The sanitizer reports each place once, and knows it by the address of the
// code. That is the same here for all operations, so it is given one for each
// stack.
void *place(const Stack &stack, int count) {
  uintptr_t hash = 14695981039346656037u;
  for (int i = 0; i < count; ++i)
    hash = (hash ^ reinterpret_cast<uintptr_t>(stack[i])) * 1099511628211u;
  // Where no code is.
  return reinterpret_cast<void *>(hash % 65536 | 1);
}

// Its own stack ends in LibTorch, which keeps no frame pointers.
void print(const Stack &stack, int count) {
  std::fprintf(stderr, "in an operation of LibTorch that is called here:\n");
  for (int i = 0; i < count; ++i) {
    // Inlined calls, each ended by a zero byte.
    char text[4096] = "";
    __sanitizer_symbolize_pc(stack[i], "%p %F %L", text, sizeof(text) - 1);
    for (const char *each = text; *each; each += std::strlen(each) + 1)
      std::fprintf(stderr, "    #%d %s\n", i, each);
  }
}

void report(void *address, size_t bytes) {
  Stack stack;
  const int count = backtrace(stack.data(), static_cast<int>(stack.size()));
  void *const here = __builtin_frame_address(0);
  __asan_report_error(place(stack, count), here, here, address, /*is_write=*/0,
                      bytes);
  print(stack, count);
}

void check(const at::Tensor &tensor) {
  if (!tensor.defined() || !tensor.is_cpu() ||
      tensor.layout() != at::kStrided || !tensor.has_storage() ||
      tensor.numel() == 0)
    return;
  int64_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i)
    last += (tensor.size(i) - 1) * tensor.stride(i);
  const size_t bytes = static_cast<size_t>(last + 1) * tensor.element_size();
  void *first = const_cast<void *>(tensor.const_data_ptr());
  if (void *bad = __asan_region_is_poisoned(first, bytes))
    report(bad, tensor.element_size());
}

void check(const c10::IValue &value) {
  if (value.isTensor())
    check(value.toTensor());
  else if (value.isTensorList())
    for (const at::Tensor &each : value.toTensorVector())
      check(each);
}

std::unique_ptr<at::ObserverContext>
begins(const at::RecordFunction &function) {
  // What an operation calls itself has the same tensors.
  if (depth++ == 0)
    for (const c10::IValue &value : function.inputs())
      check(value);
  return nullptr;
}

void ends(const at::RecordFunction &, at::ObserverContext *) { --depth; }

} // namespace

void watch_memory() {
  at::addGlobalCallback(at::RecordFunctionCallback(begins, ends)
                            .needsInputs(true)
                            .scopes({at::RecordScope::FUNCTION}));
}

} // namespace measure

#ifndef TORCH_TIDY_SCENARIOS_MEMORY_H
#define TORCH_TIDY_SCENARIOS_MEMORY_H

namespace measure {

// In programs that are built with AddressSanitizer: from now on each operation
// of LibTorch is looked at. LibTorch is not built with the sanitizer, which
// therefore does not see what its operations read and write; so the memory of
// the tensors that an operation is given is checked here, and what is not there
// is reported as an access at the line that calls it.
void watch_memory();

} // namespace measure

#endif

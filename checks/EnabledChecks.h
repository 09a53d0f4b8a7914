// What is enabled beside the torch checks.
#ifndef TORCHTIDY_ENABLEDCHECKS_H
#define TORCHTIDY_ENABLEDCHECKS_H

namespace clang::tidy {
class ClangTidyContext;
}

namespace torchtidy {

/// Whether nothing but torch checks is enabled for the context's current file.
/// Stock checks and clang-analyzer need the whole translation unit: with any of
/// them it stays as stock clang-tidy has it.
bool areTorchChecksAlone(const clang::tidy::ClangTidyContext &Context);

} // namespace torchtidy

#endif

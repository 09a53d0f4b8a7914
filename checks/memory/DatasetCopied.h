// Query: data that each worker of a data loader has a copy of.
#ifndef TORCHTIDY_MEMORY_DATASETCOPIED_H
#define TORCHTIDY_MEMORY_DATASETCOPIED_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A loader with several workers, of a data set that has its data by value; or
/// a loop that copies one in every iteration.
struct DatasetCopied {
  const Execution *Entry = nullptr;
  /// The call that copies.
  const clang::CallExpr *Loader = nullptr;
  const Frame *In = nullptr;
  const clang::CXXRecordDecl *Dataset = nullptr;
  /// The member that has it.
  const clang::FieldDecl *Data = nullptr;
  int64_t Workers = 0;
  /// The loop; null where it is the workers that have copies.
  const flow::Loop *Around = nullptr;
  /// What gets the copy, where it is a parameter of a function that only reads
  /// it.
  const clang::ParmVarDecl *Parameter = nullptr;
};

/// Reported are loaders of two workers or more, as far as the number is known,
/// and loaders that each iteration makes of one data set, which has a name;
/// and calls in a loop that give it by value to a function that goes through it
/// with a network.
/// Data is a list of lists of numbers, or a list of numbers of which a sample
/// is a stretch; handles, names of files and a number for each sample are
/// little.
std::vector<DatasetCopied> findDatasetCopied(Program &Program);

} // namespace torchtidy::model

#endif

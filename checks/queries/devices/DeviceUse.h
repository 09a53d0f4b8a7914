// Whether tensors of the program may lie anywhere but on the CPU.
#ifndef TORCHTIDY_QUERIES_DEVICES_DEVICEUSE_H
#define TORCHTIDY_QUERIES_DEVICES_DEVICEUSE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// Something in the program can put a tensor on a device that may not be the
/// CPU. False only of a whole program (with a main) that names no such device,
/// makes none from a text, is given none by another file, and calls nothing of
/// another device. Without a main,
/// callers elsewhere choose.
bool mayUseDevice(Program &Program);

} // namespace torchtidy::model

#endif

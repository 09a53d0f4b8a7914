// How much of the time a device computes while the program runs, as NVIDIA's
// management library (NVML) samples it.
#ifndef TORCHTIDY_CONFIRM_RUN_DEVICE_USE_H
#define TORCHTIDY_CONFIRM_RUN_DEVICE_USE_H

#include "recording/Recording.h"
#include <memory>
#include <sys/types.h>
#include <vector>

namespace torchtidy::confirm {

/// Looks at all devices, in a thread of its own, until it is asked. Where there
/// is no such library, or no device, there is none.
class DeviceUse {
public:
  explicit DeviceUse(pid_t Program);
  ~DeviceUse();
  DeviceUse(const DeviceUse &) = delete;
  DeviceUse &operator=(const DeviceUse &) = delete;

  std::vector<DeviceBusy> stop();

private:
  class Sampler;
  std::unique_ptr<Sampler> Samples;
};

} // namespace torchtidy::confirm

#endif

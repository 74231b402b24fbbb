// What every part needs: torch's headers, and which device type this build registers.
#pragma once

#define USE_KINETO 1
#define FMT_HEADER_ONLY 1

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/expand.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/ApproximateClock.h>
#include <libkineto.h>
#include <output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>
#include <torch/library.h>

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

// The same code twice: device "sim" (PrivateUse1), or device "cuda" on a build of torch that has no CUDA,
// which is how HIP devices present themselves. The runtime API's names in profiles follow.
#ifdef SIM_AS_CUDA
#define SIM_KEY CUDA
#define SIM_API "hip"
#else
#define SIM_KEY PrivateUse1
#define SIM_API "sim"
#endif

namespace sim {

constexpr c10::DeviceType kSimType = c10::DeviceType::SIM_KEY;
constexpr c10::DispatchKey kSimKey = c10::DispatchKey::SIM_KEY;
constexpr size_t kMiB = 1 << 20;

using at::Tensor;
using c10::DeviceIndex;
using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;
using Lock = std::lock_guard<std::mutex>;

}  // namespace sim

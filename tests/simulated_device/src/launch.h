// Putting work into the current stream, and the host's view of device memory that the work computes on.
#pragma once

#include "allocator.h"

namespace sim {

bool on_device(const Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kSimType;
}

// A CPU tensor over device memory. It owns nothing: stream order protects the memory, as on a real device,
// and a block that is freed too early is really overwritten.
Tensor host_view(const Tensor& tensor) {
  void* address = tensor.unsafeGetTensorImpl()->mutable_data();
  const auto options = tensor.options().device(at::kCPU).requires_grad(false).pinned_memory(false);
  return at::from_blob(address, tensor.sizes(), tensor.strides(), options);
}

std::optional<Tensor> host_view(const std::optional<Tensor>& tensor) {
  return tensor && tensor->defined() ? std::optional<Tensor>(host_view(*tensor)) : std::nullopt;
}

Tensor to_meta(const Tensor& tensor) {
  return at::empty_strided(tensor.sizes(), tensor.strides(),
                           tensor.options().device(at::kMeta).pinned_memory(false));
}

std::atomic<int64_t> g_launches{0};

void launch(int device, Kind kind, std::string name, int64_t cost_ns, Closure run, size_t bytes = 0) {
  check_not_forked();
  const auto correlation = next_correlation();
  ++g_launches;
  ApiSpan span(kind == Kind::memcpy ? SIM_API "MemcpyAsync" : SIM_API "LaunchKernel", correlation);
  std::vector<Closure> finished;
  current_stream(device)->submit({std::move(run), std::move(name), kind, cost_ns, correlation, bytes},
                                 &finished);
}

// "aten::mm" becomes "sim_mm_kernel". A kernel named as its op would be added to it in a profile's averages.
void launch_kernel(int device, const std::string& op, Closure run) {
  const auto name = "sim_" + op.substr(op.find("::") + 2) + "_kernel";
  launch(device, Kind::kernel, name, cost_of(op), [run = std::move(run)] {
    if (!g_compute)
      return;
    at::AutoDispatchBelowADInplaceOrView guard;
    run();
  });
}

}  // namespace sim

// Copies between host and device: which of them the host waits for, and when the bytes arrive.
#pragma once

#include "pinned.h"
#include "views.h"

namespace sim {

struct CopyKind {
  const char* name;  // as profilers on HIP spell it
  const char* rate;
};

CopyKind kind_of_copy(bool from_device, bool to_device, bool pinned) {
  if (from_device && to_device)
    return {"Memcpy DtoD (Device -> Device)", "copy:dtod_ns_per_kb"};
  if (from_device)
    return {pinned ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy DtoH (Device -> Pageable)",
            "copy:dtoh_ns_per_kb"};
  return {pinned ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Pageable -> Device)",
          "copy:htod_ns_per_kb"};
}

void wait_for_current_stream(int device) {
  ApiSpan span(SIM_API "StreamSynchronize");
  synchronize_stream(current_stream(device));
}

Tensor copy_from(const Tensor& source, const Tensor& target, bool non_blocking) {
  const bool from_device = on_device(source), to_device = on_device(target);
  const int device = to_device ? target.device().index() : source.device().index();
  const bool across = from_device && to_device && source.device() != target.device();
  if (across) {
    synchronize_device(source.device().index());
    synchronize_device(device);
  }
  const Tensor host = from_device && to_device ? Tensor() : from_device ? target : source;
  const bool pinned = host.defined() && host.numel() && g_pinned->contains(host.const_data_ptr());
  // Another device's memory is not protected by this stream's order, so the host waits for that copy.
  bool asynchronous = from_device && to_device ? !across : non_blocking && pinned;
  Tensor from = from_device ? host_view(source) : source;
  Tensor to = to_device ? host_view(target) : target;
  if (non_blocking && !from_device && !pinned) {
    from = source.clone();  // pageable: staged before the call returns
    asynchronous = true;
  }
  const size_t bytes = target.numel() * target.element_size();
  const auto kind = kind_of_copy(from_device, to_device, pinned);
  const auto cost = copy_rate(kind.rate) * static_cast<int64_t>(bytes / 1024);
  const auto copy = [from, to] {
    at::AutoDispatchBelowADInplaceOrView guard;
    Tensor(to).copy_(from);
  };
  launch(device, Kind::memcpy, kind.name, cost, copy, bytes);
  if (!asynchronous)
    wait_for_current_stream(device);
  return target;
}

Tensor copy_from_and_resize(const Tensor& source, const Tensor& target) {
  if (target.sizes() != source.sizes()) {
    if (on_device(target))
      resize_in_place(target, source.sizes(), std::nullopt);
    else
      at::native::resize_(target, source.sizes(), std::nullopt);
  }
  return copy_from(source, target, false);
}

at::Scalar local_scalar(const Tensor& self) {
  wait_for_current_stream(self.device().index());
  return at::native::_local_scalar_dense_cpu(host_view(self));
}

[[maybe_unused]] Tensor& copy(Tensor& self, const Tensor& source, bool non_blocking) {
  at::AutoDispatchBelowADInplaceOrView guard;
  if (self.numel())
    copy_from(source.sizes() == self.sizes() ? source : source.expand(self.sizes()), self, non_blocking);
  return self;
}

TORCH_LIBRARY_IMPL(aten, SIM_KEY, m) {
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar);
#ifdef SIM_AS_CUDA
  m.impl("copy_", copy);  // torch's own looks for the CUDA copy kernel that this build lacks
#endif
}

}  // namespace sim

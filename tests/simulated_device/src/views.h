// Creating tensors, and operations on a tensor's metadata alone: nothing is queued, no time passes.
#pragma once

#include "launch.h"

namespace sim {

template <class T>
using Optional = std::optional<T>;

// A device given without an index is the current one.
Optional<at::Device> indexed(Optional<at::Device> device) {
  return device && device->has_index() ? device : std::nullopt;
}

Tensor empty(at::IntArrayRef size, Optional<at::ScalarType> dtype, Optional<at::Layout>,
             Optional<at::Device> device, Optional<bool>, Optional<at::MemoryFormat> format) {
  c10::OptionalDeviceGuard guard(indexed(device));
  return at::detail::empty_generic(size, g_allocator, c10::DispatchKeySet(kSimKey),
                                   c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, Optional<at::ScalarType> dtype,
                     Optional<at::Layout>, Optional<at::Device> device, Optional<bool>) {
  c10::OptionalDeviceGuard guard(indexed(device));
  return at::detail::empty_strided_generic(size, stride, g_allocator, c10::DispatchKeySet(kSimKey),
                                           c10::dtype_or_default(dtype));
}

Tensor as_strided(const Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                  Optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

Tensor view(const Tensor& self, at::IntArrayRef size) {
  return at::native::view(self, size);
}

Tensor reshape_alias(const Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return at::native::unfold(self, dimension, size, step);
}

// torch's own would copy the old contents at once, from the host, past the stream.
const Tensor& resize_in_place(const Tensor& self, at::IntArrayRef size, Optional<at::MemoryFormat>) {
  const auto needed =
      at::detail::computeStorageNbytesContiguous(size, self.dtype().itemsize(), self.storage_offset());
  auto* storage = self.storage().unsafeGetStorageImpl();
  if (storage->nbytes() < needed) {
    c10::DeviceGuard guard(self.device());
    auto data = g_allocator->allocate(needed);
    if (const size_t bytes = storage->nbytes()) {
      void* to = data.get();
      const void* from = storage->data();
      const auto copy = [to, from, bytes] {
        std::memcpy(to, from, bytes);
      };
      launch(self.device().index(), Kind::memcpy, "Memcpy DtoD (Device -> Device)", 0, copy, bytes);
    }
    storage->set_data_ptr_noswap(std::move(data));
    storage->set_nbytes(needed);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return self;
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  return at::native::set_tensor_(self, source);
}

Tensor& set_storage(Tensor& self, at::Storage source) {
  return at::native::set_(self, source);
}

Tensor& set_storage_offset(Tensor& self, at::Storage source, int64_t offset, at::IntArrayRef size,
                           at::IntArrayRef stride) {
  return at::native::set_storage_cpu_(self, source, offset, size, stride);
}

// 0: the plain implementation, the only one whose parts all have CPU kernels.
int64_t choose_attention(const Tensor&, const Tensor&, const Tensor&, const Optional<Tensor>&, double, bool,
                         Optional<double>, bool) {
  return 0;
}

void record_stream(Tensor& self, c10::Stream stream) {
  g_allocator->recordStream(self.storage().data_ptr(), stream);
}

TORCH_LIBRARY_IMPL(aten, SIM_KEY, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", as_strided);
  m.impl("view", view);
  m.impl("_reshape_alias", reshape_alias);
  m.impl("unfold", unfold);
  m.impl("resize_", resize_in_place);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_.source_Storage", set_storage);
  m.impl("set_.source_Storage_storage_offset", set_storage_offset);
  m.impl("_fused_sdp_choice", choose_attention);
  m.impl("record_stream", record_stream);
}

}  // namespace sim

// Dropout: its CPU kernel takes no generator and would draw from the host's, at a time of its own.
#pragma once

#include "generator.h"
#include "views.h"

namespace sim {

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, Optional<bool> train) {
  at::AutoDispatchBelowADInplaceOrView guard;
  const double dropped = train.value_or(true) ? p : 0.0;
  const double scale = dropped < 1.0 ? 1.0 / (1.0 - dropped) : 0.0;
  const int device = input.device().index();
  Tensor output = at::empty(input.sizes(), input.options());
  Tensor mask = at::empty(input.sizes(), input.options().dtype(at::kBool));
  const auto generator = kernel_generator({}, device);
  const auto run = [input = host_view(input), output = host_view(output), mask = host_view(mask), dropped,
                    scale, generator] {
    Tensor(mask).bernoulli_(1.0 - dropped, generator);
    Tensor(output).copy_(input.mul(mask).mul_(scale));
  };
  launch_kernel(device, "aten::native_dropout", run);
  return {output, mask};
}

TORCH_LIBRARY_IMPL(aten, SIM_KEY, m) {
  m.impl("native_dropout", native_dropout);
}

}  // namespace sim

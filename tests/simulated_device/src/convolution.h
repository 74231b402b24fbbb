// Convolutions: torch picks a vendor's library for them by device type, so they need an entry of their own.
#pragma once

#include "views.h"

namespace sim {

struct ConvolutionOptions {
  std::vector<int64_t> stride, padding, dilation;
  bool transposed;
  std::vector<int64_t> output_padding;
  int64_t groups;
};

using Mask = std::array<bool, 3>;
using Gradients = std::tuple<Tensor, Tensor, Tensor>;

Tensor forward(const Tensor& input, const Tensor& weight, const Optional<Tensor>& bias,
               const ConvolutionOptions& o) {
  return at::convolution(input, weight, bias, o.stride, o.padding, o.dilation, o.transposed, o.output_padding,
                         o.groups);
}

Tensor convolution(const Tensor& input, const Tensor& weight, const Optional<Tensor>& bias,
                   at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                   at::IntArrayRef output_padding, int64_t groups) {
  at::AutoDispatchBelowADInplaceOrView guard;
  const ConvolutionOptions options{stride.vec(), padding.vec(),        dilation.vec(),
                                   transposed,   output_padding.vec(), groups};
  const bool has_bias = bias && bias->defined();
  const auto meta_bias = has_bias ? Optional<Tensor>(to_meta(*bias)) : std::nullopt;
  const Tensor shape = forward(to_meta(input), to_meta(weight), meta_bias, options);
  Tensor output = at::empty(shape.sizes(), input.options());
  const auto run = [input = host_view(input), weight = host_view(weight), bias = host_view(bias),
                    output = host_view(output), options] {
    Tensor(output).copy_(forward(input, weight, bias, options));
  };
  launch_kernel(input.device().index(), "aten::convolution", run);
  return output;
}

Gradients convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                               at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                               bool transposed, at::IntArrayRef output_padding, int64_t groups, Mask mask) {
  at::AutoDispatchBelowADInplaceOrView guard;
  const ConvolutionOptions options{stride.vec(), padding.vec(),        dilation.vec(),
                                   transposed,   output_padding.vec(), groups};
  std::array<Tensor, 3> gradients, views;
  if (mask[0])
    gradients[0] = at::empty(input.sizes(), input.options());
  if (mask[1])
    gradients[1] = at::empty(weight.sizes(), weight.options());
  if (mask[2])
    gradients[2] = at::empty({grad_output.size(1)}, grad_output.options());
  for (size_t i = 0; i < 3; ++i)
    if (mask[i])
      views[i] = host_view(gradients[i]);
  const auto run = [grad_output = host_view(grad_output), input = host_view(input),
                    weight = host_view(weight), options, mask, views] {
    const std::vector<int64_t> bias_size{grad_output.size(1)};
    const auto [first, second, third] = at::convolution_backward(
        grad_output, input, weight, at::OptionalIntArrayRef(bias_size), options.stride, options.padding,
        options.dilation, options.transposed, options.output_padding, options.groups, mask);
    const Tensor* computed[] = {&first, &second, &third};
    for (size_t i = 0; i < 3; ++i)
      if (mask[i])
        Tensor(views[i]).copy_(*computed[i]);
  };
  launch_kernel(input.device().index(), "aten::convolution_backward", run);
  return {gradients[0], gradients[1], gradients[2]};
}

// The same with the bias's sizes, which the gradient's shape tells anyway.
[[maybe_unused]] Gradients convolution_backward_sized(const Tensor& grad_output, const Tensor& input,
                                                      const Tensor& weight, at::OptionalIntArrayRef,
                                                      at::IntArrayRef stride, at::IntArrayRef padding,
                                                      at::IntArrayRef dilation, bool transposed,
                                                      at::IntArrayRef output_padding, int64_t groups,
                                                      Mask mask) {
  return convolution_backward(grad_output, input, weight, stride, padding, dilation, transposed,
                              output_padding, groups, mask);
}

TORCH_LIBRARY_IMPL(aten, SIM_KEY, m) {
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
#ifdef SIM_AS_CUDA
  m.impl("convolution", convolution);
  m.impl("convolution_backward", convolution_backward_sized);
#endif
}

}  // namespace sim

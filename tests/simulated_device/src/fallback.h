// Any operation without a kernel of its own: outputs are allocated, the CPU's kernel is queued, and the call
// returns.
#pragma once

#include "generator.h"
#include "shapes.h"
#include "views.h"

namespace sim {

std::mutex g_synchronous_mutex;
auto& g_synchronous = *new std::map<std::string, int64_t>();  // operator -> calls that waited

void run_synchronously(const c10::OperatorHandle& op, Stack* stack) {
  {
    Lock lock(g_synchronous_mutex);
    ++g_synchronous[c10::toString(op.operator_name())];
  }
  at::native::cpu_fallback(op, stack);
}

std::string synchronous_report() {
  Lock lock(g_synchronous_mutex);
  std::string report;
  for (const auto& [name, calls] : g_synchronous)
    report += name + "=" + std::to_string(calls) + " ";
  return report;
}

// The device of the tensor arguments; -1 where none is on a device.
int device_of_tensors(const c10::OperatorHandle& op, Arguments arguments) {
  int device = -1;
  for (const auto& argument : arguments) {
    for_each_tensor(argument, [&](const Tensor& tensor) {
      if (!on_device(tensor))
        return;
      const int index = tensor.device().index();
      TORCH_CHECK(device < 0 || device == index, op.operator_name(),
                  ": Expected all tensors to be on the same device, but found at least two devices, ",
                  c10::Device(kSimType, static_cast<DeviceIndex>(device)), " and ", tensor.device());
      device = index;
    });
  }
  return device;
}

int device_of_call(int device_of_tensors, Arguments arguments) {
  if (device_of_tensors >= 0)
    return device_of_tensors;
  for (const auto& argument : arguments)
    if (argument.isDevice() && argument.toDevice().has_index())
      return argument.toDevice().index();
  return tl_device;
}

bool writes_to_host(const c10::FunctionSchema& schema, Arguments arguments) {
  bool writes = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias && alias->isWrite())
      for_each_tensor(arguments[i], [&](const Tensor& t) { writes |= t.defined() && !on_device(t); });
  }
  return writes;
}

// A tensor as the kernel will see it, later. One in host memory is read at the launch, as on a real device.
Tensor kernel_argument(const Tensor& tensor) {
  if (on_device(tensor))
    return host_view(tensor);
  if (!tensor.defined() || tensor.device().type() != at::kCPU ||
      tensor.unsafeGetTensorImpl()->is_wrapped_number())
    return tensor;
  return tensor.clone();
}

Stack kernel_arguments(const c10::FunctionSchema& schema, Arguments arguments, int device) {
  Stack stack;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto value = map_tensors(arguments[i], kernel_argument);
    const auto& type = *schema.arguments()[i].type();
    if (value.isDevice())
      value = c10::Device(c10::kCPU);
    else if (value.isGenerator() ||
             (value.isNone() && type == *c10::OptionalType::create(c10::GeneratorType::get())))
      value = kernel_generator(value, device);
    stack.push_back(std::move(value));
  }
  return stack;
}

// Allocates fresh outputs and resizes given ones (`out=`). False where the shapes cannot be told.
bool prepare_outputs(const c10::OperatorHandle& op, Arguments arguments, const std::vector<int>& sources,
                     int device, std::vector<Tensor>& outputs) {
  const auto& declared = op.schema().arguments();
  const bool fresh = std::find(sources.begin(), sources.end(), kFresh) != sources.end();
  const bool out_variant = std::any_of(declared.begin(), declared.end(),
                                       [](const c10::Argument& argument) { return argument.is_out(); });
  std::shared_ptr<Shapes> shapes;
  if (fresh || out_variant) {
    shapes = output_shapes(op, arguments, sources);
    if (!shapes->known)
      return false;
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == kFresh) {
      const Tensor& shape = shapes->outputs[i];
      if (!shape.defined())
        continue;
      const auto options = shape.options().device(c10::Device(kSimType, static_cast<DeviceIndex>(device)));
      outputs[i] = at::empty_strided(shape.sizes(), shape.strides(), options);
    } else {
      outputs[i] = arguments[sources[i]].toTensor();
      if (shapes && shapes->outputs[i].sizes() != outputs[i].sizes())
        resize_in_place(outputs[i], shapes->outputs[i].sizes(), std::nullopt);
    }
  }
  return true;
}

void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
  const auto& schema = op.schema();
  const auto arguments = torch::jit::last(*stack, schema.arguments().size());
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU),
                              "simdev: ", schema.operator_name(), " has no CPU kernel to simulate");
  const int tensors_on = device_of_tensors(op, arguments);
  const int device = device_of_call(tensors_on, arguments);
  c10::DeviceGuard device_guard(c10::Device(kSimType, static_cast<DeviceIndex>(device)));
  const auto sources = return_sources(schema);
  if (tensors_on < 0 || !sources || writes_to_host(schema, arguments))
    return run_synchronously(op, stack);

  at::AutoDispatchBelowADInplaceOrView guard;
  std::vector<Tensor> outputs(sources->size());
  if (!prepare_outputs(op, arguments, *sources, device, outputs))
    return run_synchronously(op, stack);
  std::vector<Tensor> fresh;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool copy_back = (*sources)[i] == kFresh && outputs[i].defined();
    fresh.push_back(copy_back ? host_view(outputs[i]) : Tensor());
  }
  auto kernel_stack = kernel_arguments(schema, arguments, device);
  launch_kernel(device, schema.name(),
                [op, kernel_stack = std::move(kernel_stack), fresh = std::move(fresh)]() {
                  Stack running = kernel_stack;
                  op.callBoxed(&running);
                  for (size_t i = 0; i < fresh.size(); ++i)
                    if (fresh[i].defined())
                      Tensor(fresh[i]).copy_(running[i].toTensor());
                });
  torch::jit::drop(*stack, schema.arguments().size());
  for (auto& output : outputs)
    stack->emplace_back(std::move(output));
}

TORCH_LIBRARY_IMPL(_, SIM_KEY, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

}  // namespace sim

// What an operation returns: which arguments it aliases, and the shapes of the rest.
#pragma once

#include "launch.h"

namespace sim {

using Stack = torch::jit::Stack;
using Arguments = at::ArrayRef<c10::IValue>;

// The value with every tensor in it replaced.
template <class F>
c10::IValue map_tensors(const c10::IValue& value, F change) {
  if (value.isTensor())
    return change(value.toTensor());
  if (value.isTensorList()) {
    c10::List<Tensor> changed;
    for (const Tensor& tensor : value.toTensorVector())
      changed.push_back(change(tensor));
    return changed;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<Tensor>> changed;
    for (const auto& tensor : value.toOptionalTensorVector())
      changed.push_back(tensor ? std::optional<Tensor>(change(*tensor)) : std::nullopt);
    return changed;
  }
  return value;
}

template <class F>
void for_each_tensor(const c10::IValue& value, F look) {
  map_tensors(value, [&](const Tensor& tensor) {
    look(tensor);
    return tensor;
  });
}

constexpr int kFresh = -1;

// For each return the argument that it is, or kFresh. None for operations that cannot be put off: those that
// return something else than tensors (the host would need the value), and views.
std::optional<std::vector<int>> return_sources(const c10::FunctionSchema& schema) {
  std::vector<int> sources;
  const auto& arguments = schema.arguments();
  for (const auto& result : schema.returns()) {
    if (result.type()->kind() != c10::TypeKind::TensorType)
      return std::nullopt;
    int source = kFresh;
    if (const auto* alias = result.alias_info()) {
      for (size_t i = 0; i < arguments.size() && alias->isWrite(); ++i)
        if (arguments[i].alias_info() && *arguments[i].alias_info() == *alias)
          source = static_cast<int>(i);
      if (source == kFresh)
        return std::nullopt;
    }
    sources.push_back(source);
  }
  return sources;
}

class Signature {
 public:
  std::string text;

  void add(int64_t number) { text.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(at::IntArrayRef numbers) {
    add(static_cast<int64_t>(numbers.size()));
    for (auto number : numbers)
      add(number);
  }
  void add(const Tensor& tensor) {
    if (!tensor.defined()) {
      text += 'u';
      return;
    }
    text += on_device(tensor) ? 'd' : tensor.unsafeGetTensorImpl()->is_wrapped_number() ? 'w' : 'c';
    text += static_cast<char>(tensor.scalar_type());
    add(tensor.sizes());
    add(tensor.strides());
  }
  void add(const c10::IValue& value) {
    if (value.isTensor()) {
      add(value.toTensor());
    } else if (value.isInt()) {
      text += 'i';
      add(value.toInt());
    } else if (value.isBool()) {
      text += value.toBool() ? 'T' : 'F';
    } else if (value.isNone()) {
      text += 'n';
    } else if (value.isDouble()) {
      const double number = value.toDouble();
      text += 'f';
      text.append(reinterpret_cast<const char*>(&number), sizeof number);
    } else if (value.isIntList()) {
      text += 'l';
      add(at::IntArrayRef(value.toIntVector()));
    } else if (value.isTensorList()) {
      const auto tensors = value.toTensorVector();
      text += 'L';
      add(static_cast<int64_t>(tensors.size()));
      for (const auto& tensor : tensors)
        add(tensor);
    } else if (value.isGenerator()) {
      text += 'g';
    } else {
      std::ostringstream printed;
      printed << value;
      text += '?' + printed.str();
    }
  }
};

std::string signature(const c10::OperatorHandle& op, Arguments arguments) {
  Signature signature;
  const auto& name = op.operator_name();
  signature.add(static_cast<int64_t>(name.name.size()));
  signature.text += name.name + '.' + name.overload_name;
  signature.text += static_cast<char>(at::typeMetaToScalarType(at::get_default_dtype()));
  for (const auto& argument : arguments)
    signature.add(argument);
  return signature.text;
}

struct Shapes {
  bool known = true;
  std::vector<Tensor> outputs;  // meta tensors
};

std::shared_ptr<Shapes> infer_shapes(const c10::OperatorHandle& op, Arguments arguments,
                                     const std::vector<int>& sources) {
  Stack stack;
  for (const auto& argument : arguments) {
    auto value = map_tensors(argument, [](const Tensor& t) { return on_device(t) ? to_meta(t) : t; });
    if (value.isDevice())
      value = c10::Device(c10::kMeta);
    if (value.isGenerator())
      value = c10::IValue();  // no kernel for meta tensors draws anything
    stack.push_back(std::move(value));
  }
  const Stack given = stack;
  auto shapes = std::make_shared<Shapes>();
  try {
    op.callBoxed(&stack);
  } catch (const std::exception&) {
    // No meta kernel, or wrong arguments: the synchronous path runs the op, and reports what is wrong.
    shapes->known = false;
    return shapes;
  }
  for (size_t i = 0; i < sources.size(); ++i)
    shapes->outputs.push_back(sources[i] == kFresh ? stack[i].toTensor() : given[sources[i]].toTensor());
  return shapes;
}

// Meta kernels are Python and take 40 to 2000 us; with the cache a launch takes 10.
std::shared_ptr<Shapes> output_shapes(const c10::OperatorHandle& op, Arguments arguments,
                                      const std::vector<int>& sources) {
  static std::mutex mutex;
  static auto& cache = *new std::unordered_map<std::string, std::shared_ptr<Shapes>>();
  const auto key = signature(op, arguments);
  {
    Lock lock(mutex);
    const auto found = cache.find(key);
    if (found != cache.end())
      return found->second;
  }
  auto shapes = infer_shapes(op, arguments, sources);
  Lock lock(mutex);
  if (cache.size() > 20000)
    cache.clear();
  cache[key] = shapes;
  return shapes;
}

}  // namespace sim

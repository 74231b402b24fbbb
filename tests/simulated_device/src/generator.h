// Random generators of the device. Each launch draws a seed, and its kernel draws from that seed alone:
// numbers depend on the order of launches, as on a real device, and not on when kernels run or what the host
// draws.
#pragma once

#include "streams.h"

namespace sim {

class SimGenerator final : public c10::GeneratorImpl {
 public:
  SimGenerator(int device, at::Generator seeds)
      : GeneratorImpl(c10::Device(kSimType, static_cast<DeviceIndex>(device)), c10::DispatchKeySet(kSimKey)),
        seeds_(std::move(seeds)) {}

  static c10::DeviceType device_type() { return kSimType; }

  at::Generator generator_of_launch() {
    Lock lock(mutex_);
    return at::detail::createCPUGenerator(seeds_.get<at::CPUGeneratorImpl>()->random64());
  }

  void set_current_seed(uint64_t seed) override { seeds_.set_current_seed(seed); }
  void set_offset(uint64_t offset) override { seeds_.set_offset(offset); }
  uint64_t get_offset() const override { return seeds_.get_offset(); }
  uint64_t current_seed() const override { return seeds_.current_seed(); }
  uint64_t seed() override { return seeds_.seed(); }
  void set_state(const c10::TensorImpl& state) override { seeds_.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return seeds_.unsafeGetGeneratorImpl()->get_state();
  }

 private:
  SimGenerator* clone_impl() const override { return new SimGenerator(device_.index(), seeds_.clone()); }

  at::Generator seeds_;
};

at::Generator new_generator(int device) {
  return at::make_generator<SimGenerator>(device, at::detail::createCPUGenerator(c10::default_rng_seed_val));
}

const at::Generator& default_generator(int device) {
  if (device < 0)
    device = tl_device;
  check_device(device);
  static const auto* all = [] {
    auto* generators = new std::vector<at::Generator>();
    for (int d = 0; d < g_device_count; ++d)
      generators->push_back(new_generator(d));
    return generators;
  }();
  return (*all)[device];
}

// What a kernel draws from, by the op's generator argument (none: the device's default).
at::Generator kernel_generator(const c10::IValue& value, int device) {
  const auto generator = value.isNone() ? default_generator(device) : value.toGenerator();
  if (generator.device().type() != kSimType)
    return generator;
  return static_cast<SimGenerator*>(generator.unsafeGetGeneratorImpl())->generator_of_launch();
}

}  // namespace sim

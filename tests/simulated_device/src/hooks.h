// The hooks object: how torch asks a device type what there is.
#pragma once

#include "allocator.h"
#include "generator.h"
#include "pinned.h"

namespace sim {

#ifdef SIM_AS_CUDA
struct Hooks final : at::CUDAHooksInterface {
  explicit Hooks(at::CUDAHooksArgs) {}
  bool hasCUDA() const override { return g_device_count > 0; }
  DeviceIndex current_device() const override { return static_cast<DeviceIndex>(tl_device); }
  at::Allocator* getCUDADeviceAllocator() const override { return g_allocator; }
  int getNumGPUs() const override { return g_device_count; }
  void deviceSynchronize(DeviceIndex device) const override { synchronize_device(device); }
#else
struct Hooks final : at::PrivateUse1HooksInterface {
#endif
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return g_device_count > 0; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return static_cast<DeviceIndex>(g_device_count); }
  void setCurrentDevice(DeviceIndex device) const override { set_device(device); }
  DeviceIndex getCurrentDevice() const override { return static_cast<DeviceIndex>(tl_device); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    const auto old = getCurrentDevice();
    set_device(device);
    return old;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override {
    const auto old = getCurrentDevice();
    if (device >= 0 && device < g_device_count)
      tl_device = device;
    return old;
  }
  at::Allocator* getPinnedMemoryAllocator() const override { return g_pinned; }
  bool isPinnedPtr(const void* address) const override { return g_pinned->contains(address); }
  at::Device getDeviceFromPtr(void*) const override { return at::Device(kSimType, getCurrentDevice()); }
  const at::Generator& getDefaultGenerator(DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(DeviceIndex device) const override {
    return new_generator(device < 0 ? tl_device : device);
  }
};

}  // namespace sim

#ifdef SIM_AS_CUDA
// The registry's macro wants to stand in at's namespace.
namespace at {
C10_REGISTER_TYPED_CLASS(CUDAHooksRegistry, "CUDAHooks", ::sim::Hooks)
}
#else
namespace sim {
[[maybe_unused]] const bool g_hooks_registered = (at::RegisterPrivateUse1HooksInterface(new Hooks()), true);
}
#endif

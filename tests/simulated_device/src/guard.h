// The guard: devices, streams and events as torch's own code drives them.
#pragma once

#include "allocator.h"

namespace sim {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  using Device = c10::Device;
  using Stream = c10::Stream;

  static Device device_at(int index) { return Device(kSimType, static_cast<DeviceIndex>(index)); }
  static Stream stream_at(int device, int id) { return Stream(Stream::UNSAFE, device_at(device), id); }
  static int index_of(Device device) { return device.index() < 0 ? tl_device : device.index(); }
  static StreamImpl* impl(const Stream& stream) {
    return get_stream(stream.device_index(), static_cast<int>(stream.id()));
  }
  static EventPtr& event_of(void* event) { return *static_cast<EventPtr*>(event); }

  c10::DeviceType type() const override { return kSimType; }
  c10::DeviceCapability getDeviceCapability(Device) const override { return {}; }
  DeviceIndex deviceCount() const noexcept override { return static_cast<DeviceIndex>(g_device_count); }

  Device getDevice() const override { return device_at(tl_device); }
  void setDevice(Device device) const override { set_device(index_of(device)); }
  void uncheckedSetDevice(Device device) const noexcept override {
    if (index_of(device) < g_device_count)
      tl_device = index_of(device);
  }
  Device exchangeDevice(Device device) const override {
    const auto old = getDevice();
    set_device(index_of(device));
    return old;
  }
  void synchronizeDevice(const DeviceIndex device) const override {
    ApiSpan span(SIM_API "DeviceSynchronize");
    synchronize_device(device);
  }

  Stream getStream(Device device) const noexcept override {
    const int index = index_of(device);
    return stream_at(index, index < kMaxDevices ? tl_stream[index] : 0);
  }
  Stream getDefaultStream(Device device) const override { return stream_at(index_of(device), 0); }
  Stream getNewStream(Device device, int) const override {
    const int index = index_of(device);
    return stream_at(index, new_stream(index));
  }
  Stream getStreamFromGlobalPool(Device device, bool) const override { return getNewStream(device, 0); }
  Stream exchangeStream(Stream stream) const noexcept override {
    auto& current = tl_stream[stream.device_index() % kMaxDevices];
    return stream_at(stream.device_index(), std::exchange(current, static_cast<int>(stream.id())));
  }
  void* getStreamNativeHandle(const Stream stream) const override { return impl(stream); }
  bool queryStream(const Stream& stream) const override { return impl(stream)->pending() == 0; }
  void synchronizeStream(const Stream& stream) const override {
    ApiSpan span(SIM_API "StreamSynchronize");
    synchronize_stream(impl(stream));
  }

  // torch keeps an event as a pointer that is null until the first record.
  void record(void** event, const Stream& stream, const DeviceIndex,
              const c10::EventFlag flag) const override {
    if (!*event)
      *event = new EventPtr(std::make_shared<EventImpl>(flag == c10::EventFlag::BACKEND_DEFAULT));
    EventImpl::record(event_of(*event), impl(stream));
  }
  void block(void* event, const Stream& stream) const override {
    if (event)
      EventImpl::block(event_of(event), impl(stream));
  }
  bool queryEvent(void* event) const override { return !event || event_of(event)->query(); }
  void synchronizeEvent(void* event) const override {
    if (!event)
      return;
    ApiSpan span(SIM_API "EventSynchronize");
    event_of(event)->synchronize();
  }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    delete static_cast<EventPtr*>(event);
  }
  double elapsedTime(void* start, void* end, const DeviceIndex) const override {
    TORCH_CHECK(start && end, "Both events must be recorded before calculating elapsed time.");
    return elapsed_ms(event_of(start), event_of(end));
  }

  void recordDataPtrOnStream(const c10::DataPtr& data, const Stream& stream) const override {
    g_allocator->recordStream(data, stream);
  }
};

C10_REGISTER_GUARD_IMPL(SIM_KEY, Guard)

}  // namespace sim

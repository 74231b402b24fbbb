// Page-locked host memory: ordinary memory that is known by its address.
#pragma once

#include "common.h"

namespace sim {

class PinnedAllocator final : public at::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* address = nullptr;
    if (bytes) {
      TORCH_CHECK(!posix_memalign(&address, 4096, bytes), "no memory for ", bytes, " pinned bytes");
      Lock lock(mutex_);
      live_[static_cast<char*>(address)] = bytes;
    }
    return {address, address, &free_address, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_address; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }

  bool contains(const void* address) {
    auto* wanted = static_cast<char*>(const_cast<void*>(address));
    Lock lock(mutex_);
    auto after = live_.upper_bound(wanted);
    if (after == live_.begin())
      return false;
    --after;
    return wanted < after->first + after->second;
  }

 private:
  static void free_address(void* address);

  std::mutex mutex_;
  std::map<char*, size_t> live_;
};

PinnedAllocator* const g_pinned = new PinnedAllocator();

void PinnedAllocator::free_address(void* address) {
  if (!address)
    return;
  {
    Lock lock(g_pinned->mutex_);
    g_pinned->live_.erase(static_cast<char*>(address));
  }
  std::free(address);
}

}  // namespace sim

// The caching allocator: CUDA's rules (rounding, segments, split and merge, one pool per stream), its
// counters, out of memory, and blocks that other streams still use.
#pragma once

#include "events.h"

namespace sim {

using c10::CachingAllocator::Stat;
using c10::CachingDeviceAllocator::DeviceStats;

struct Block {
  char* address;
  size_t size, requested;
  int device, stream;
  bool small;
  bool used = false;
  Block *previous = nullptr, *next = nullptr;  // neighbours in the segment
  std::set<int> other_streams{};               // from record_stream
};

struct BySize {
  bool operator()(const Block* a, const Block* b) const {
    return std::tie(a->stream, a->size, a->address) < std::tie(b->stream, b->size, b->address);
  }
};

using Pool = std::set<Block*, BySize>;

// A block that was freed while other streams used it, and the marks that those have to reach.
struct PendingBlock {
  Block* block;
  std::vector<EventPtr> events;
};

struct DeviceMemory {
  Pool small_pool, large_pool;
  std::vector<PendingBlock> pending;
  DeviceStats stats;
  size_t reserved = 0;

  Pool& pool(bool small) { return small ? small_pool : large_pool; }
};

class SimAllocator final : public c10::DeviceAllocator {
 public:
  void set_capacity(size_t bytes) { capacity_ = bytes; }

  c10::DataPtr allocate(size_t bytes) override {
    const int device = tl_device;
    check_device(device);
    void* address = bytes ? take(device, bytes, tl_stream[device])->address : nullptr;
    return {address, address, &free_address, c10::Device(kSimType, static_cast<DeviceIndex>(device))};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_address; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    wait_for_device(tl_device);
    std::memcpy(to, from, bytes);
  }
  bool initialized() override { return g_device_count > 0; }

  void emptyCache(c10::MempoolId_t = {0, 0}) override {
    Lock lock(mutex_);
    for (int device = 0; device < g_device_count; ++device)
      release_cached(device);
  }

  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    Lock lock(mutex_);
    const auto found = live_.find(data.get());
    if (found != live_.end() && found->second->stream != stream.id())
      found->second->other_streams.insert(static_cast<int>(stream.id()));
  }

  DeviceStats getDeviceStats(DeviceIndex device) override {
    check_device(device);
    Lock lock(mutex_);
    return memory_[device].stats;
  }
  void resetAccumulatedStats(DeviceIndex device) override {
    check_device(device);
    Lock lock(mutex_);
    auto& stats = memory_[device].stats;
    for_each_stat(stats, [](Stat& stat) { stat.reset_accumulated(); });
    stats.num_alloc_retries = stats.num_ooms = 0;
  }
  void resetPeakStats(DeviceIndex device) override {
    check_device(device);
    Lock lock(mutex_);
    for_each_stat(memory_[device].stats, [](Stat& stat) { stat.reset_peak(); });
  }
  std::pair<size_t, size_t> getMemoryInfo(DeviceIndex device) override {
    check_device(device);
    Lock lock(mutex_);
    return {unreserved(memory_[device]), capacity_.load()};
  }

 private:
  static void free_address(void* address);

  template <class F>
  static void for_each_stat(DeviceStats& stats, F change) {
    for (auto* kind :
         {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split, &stats.allocated_bytes,
          &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes, &stats.requested_bytes})
      for (auto& stat : *kind)
        change(stat);
  }

  // Every counter is kept three times: 0 for all, 1 for small blocks, 2 for large ones.
  template <class F>
  static void count(const Block* block, F change) {
    change(0);
    change(block->small ? 1 : 2);
  }

  // The capacity may be set below what is reserved already.
  size_t unreserved(const DeviceMemory& memory) const {
    const size_t capacity = capacity_;
    return capacity > memory.reserved ? capacity - memory.reserved : 0;
  }

  Block* take(int device, size_t bytes, int stream) {
    Lock lock(mutex_);
    auto& memory = memory_[device];
    collect_pending(memory);
    const size_t size = std::max<size_t>(512, (bytes + 511) / 512 * 512);
    const bool small = size <= kMiB;
    auto& pool = memory.pool(small);
    Block key{nullptr, size, 0, device, stream, small};
    const auto found = pool.lower_bound(&key);
    Block* block;
    if (found != pool.end() && (*found)->stream == stream) {
      block = *found;
      pool.erase(found);
    } else {
      block = new_segment(device, bytes, size, stream);
    }
    split(pool, block, size);
    block->used = true;
    block->requested = bytes;
    live_[block->address] = block;
    auto& stats = memory.stats;
    count(block, [&](int i) {
      stats.allocation[i].increase(1);
      stats.allocated_bytes[i].increase(block->size);
      stats.active[i].increase(1);
      stats.active_bytes[i].increase(block->size);
      stats.requested_bytes[i].increase(bytes);
    });
    return block;
  }

  Block* new_segment(int device, size_t bytes, size_t size, int stream) {
    auto& memory = memory_[device];
    const bool small = size <= kMiB;
    const size_t segment = small              ? 2 * kMiB
                           : size < 10 * kMiB ? 20 * kMiB
                                              : (size + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
    if (segment > unreserved(memory)) {
      ++memory.stats.num_alloc_retries;
      release_cached(device);
    }
    if (segment > unreserved(memory)) {
      ++memory.stats.num_ooms;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "simdev out of memory. Tried to allocate ", bytes,
                       " bytes. Device ", device, " has a total capacity of ", capacity_.load(),
                       " bytes of which ", unreserved(memory), " bytes is free. ",
                       memory.stats.allocated_bytes[0].current, " bytes allocated by PyTorch");
    }
    // Unreserved: a simulated card of 64 GiB must not need as much of the host.
    void* address =
        mmap(nullptr, segment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(address != MAP_FAILED, "simulated device: the host has no memory for ", segment, " bytes");
    auto* block = new Block{static_cast<char*>(address), segment, 0, device, stream, small};
    memory.reserved += segment;
    ++memory.stats.num_device_alloc;
    count(block, [&](int i) {
      memory.stats.reserved_bytes[i].increase(segment);
      memory.stats.segment[i].increase(1);
    });
    return block;
  }

  static void split(Pool& pool, Block* block, size_t size) {
    const size_t rest = block->size - size;
    if (block->small ? rest < 512 : rest <= kMiB)
      return;
    auto* tail = new Block{block->address + size, rest, 0, block->device, block->stream, block->small};
    tail->previous = block;
    tail->next = block->next;
    if (tail->next)
      tail->next->previous = tail;
    block->next = tail;
    block->size = size;
    pool.insert(tail);
  }

  void give_back(void* address) {
    Lock lock(mutex_);
    const auto found = live_.find(address);
    if (found == live_.end())
      return;
    Block* block = found->second;
    live_.erase(found);
    block->used = false;
    auto& memory = memory_[block->device];
    count(block, [&](int i) {
      memory.stats.allocation[i].decrease(1);
      memory.stats.allocated_bytes[i].decrease(block->size);
      memory.stats.requested_bytes[i].decrease(block->requested);
    });
    if (block->other_streams.empty()) {
      put_into_pool(block);
      return;
    }
    PendingBlock pending{block, {}};
    for (int id : block->other_streams) {
      auto event = std::make_shared<EventImpl>(false);
      EventImpl::record(event, get_stream(block->device, id));
      pending.events.push_back(std::move(event));
    }
    block->other_streams.clear();
    memory.pending.push_back(std::move(pending));
  }

  void put_into_pool(Block* block) {
    auto& memory = memory_[block->device];
    count(block, [&](int i) {
      memory.stats.active[i].decrease(1);
      memory.stats.active_bytes[i].decrease(block->size);
    });
    auto& pool = memory.pool(block->small);
    merge(pool, block, block->previous);
    merge(pool, block, block->next);
    pool.insert(block);
  }

  static void merge(Pool& pool, Block* block, Block* neighbour) {
    // A neighbour that is free but not in the pool waits for another stream.
    if (!neighbour || neighbour->used || !pool.erase(neighbour))
      return;
    if (neighbour == block->next) {
      block->next = neighbour->next;
      if (block->next)
        block->next->previous = block;
    } else {
      block->address = neighbour->address;
      block->previous = neighbour->previous;
      if (block->previous)
        block->previous->next = block;
    }
    block->size += neighbour->size;
    delete neighbour;
  }

  void collect_pending(DeviceMemory& memory) {
    const auto done = [this](PendingBlock& pending) {
      if (!std::all_of(pending.events.begin(), pending.events.end(),
                       [](EventPtr& event) { return event->query(); }))
        return false;
      put_into_pool(pending.block);
      return true;
    };
    auto& all = memory.pending;
    all.erase(std::remove_if(all.begin(), all.end(), done), all.end());
  }

  // Gives segments that are wholly free back to the device, which waits for the device as cudaFree does.
  void release_cached(int device) {
    wait_for_device(device);
    auto& memory = memory_[device];
    collect_pending(memory);
    for (auto* pool : {&memory.small_pool, &memory.large_pool}) {
      for (auto it = pool->begin(); it != pool->end();) {
        Block* block = *it;
        if (block->previous || block->next) {
          ++it;
          continue;
        }
        it = pool->erase(it);
        release_segment(memory, block);
      }
    }
  }

  static void release_segment(DeviceMemory& memory, Block* block) {
    munmap(block->address, block->size);
    memory.reserved -= block->size;
    ++memory.stats.num_device_free;
    count(block, [&](int i) {
      memory.stats.reserved_bytes[i].decrease(block->size);
      memory.stats.segment[i].decrease(1);
    });
    delete block;
  }

  std::mutex mutex_;
  std::atomic<size_t> capacity_{static_cast<size_t>(environment_number("SIM_MEM_MIB", 65536)) * kMiB};
  DeviceMemory memory_[kMaxDevices];
  std::map<void*, Block*> live_;
};

SimAllocator* const g_allocator = new SimAllocator();  // never freed: tensors may outlive static objects

void SimAllocator::free_address(void* address) {
  if (address)
    g_allocator->give_back(address);
}

[[maybe_unused]] const bool g_allocator_registered = (c10::SetAllocator(kSimType, g_allocator, 1), true);

}  // namespace sim

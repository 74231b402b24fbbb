// Streams: one worker thread each, which runs the queued tasks in order.
#pragma once

#include "config.h"
#include "trace.h"

namespace sim {

using Closure = std::function<void()>;

struct Task {
  Closure run;
  std::string name;  // empty: bookkeeping (events), no row in a profile
  Kind kind = Kind::runtime;
  int64_t cost_ns = 0;
  int64_t correlation = 0;
  size_t bytes = 0;
};

// Set at exit: workers return at once, waits end, later work is dropped.
std::atomic<bool> g_stop{false};
// Threads do not survive a fork: the child must be told instead of waiting for ever.
std::atomic<bool> g_has_workers{false}, g_forked{false};
[[maybe_unused]] const int g_atfork = pthread_atfork(nullptr, nullptr, [] {
  if (g_has_workers)
    g_forked = true;
});

void check_not_forked() {
  TORCH_CHECK(
      !g_forked,
      "Cannot re-initialize the simulated device in a forked subprocess; use the 'spawn' start method");
}

// The tail is spun: a sleep wakes up to 100 us late, which is more than the costs under test may be off.
void sleep_until_precise(Clock::time_point until) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  const auto coarse = until - microseconds(120);
  for (auto now = Clock::now(); !g_stop && now < coarse; now = Clock::now())
    std::this_thread::sleep_until(std::min(coarse, now + milliseconds(50)));
  while (!g_stop && Clock::now() < until) {
  }
}

class StreamImpl {
 public:
  StreamImpl(int device, int id) : device_(device), id_(id) {}

  int device() const { return device_; }

  // `finished` receives what tasks that are done still hold, to be destroyed by a caller who holds no lock.
  void submit(Task task, std::vector<Closure>* finished = nullptr) {
    Lock lock(mutex_);
    if (finished)
      finished->swap(finished_);
    if (g_stop || g_forked)
      return;
    if (!worker_.joinable()) {
      g_has_workers = true;
      worker_ = std::thread([this] { work(); });
    }
    queue_.push_back(std::move(task));
    ++submitted_;
    wake_.notify_one();
  }

  void synchronize() {
    check_not_forked();
    std::unique_lock<std::mutex> lock(mutex_);
    const auto target = submitted_;
    idle_.wait(lock, [&] { return g_stop || done_ >= target; });
    if (error_.empty())
      return;
    const auto error = "simdev asynchronous error: " + std::exchange(error_, {});
    lock.unlock();
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 1, error);
  }

  // Destroys what finished tasks hold. Not for callers that hold the allocator's lock.
  void reap() {
    std::vector<Closure> finished;
    Lock lock(mutex_);
    finished.swap(finished_);
  }

  int64_t pending() {
    Lock lock(mutex_);
    return static_cast<int64_t>(submitted_ - done_);
  }

  // Only with g_stop set.
  void join() {
    std::thread worker;
    {
      Lock lock(mutex_);
      worker.swap(worker_);
      wake_.notify_all();
      idle_.notify_all();
    }
    if (worker.joinable())
      worker.join();
  }

 private:
  void work() {
    for (;;) {
      Task task;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return g_stop || !queue_.empty(); });
        if (g_stop)
          return;
        task = std::move(queue_.front());
        queue_.pop_front();
      }
      execute(task);
      {
        Lock lock(mutex_);
        // A task may hold the last reference to a tensor that Python knows, and dropping it takes the GIL,
        // which somebody who waits for this very worker may hold. So a host thread drops it.
        if (!task.name.empty())
          finished_.push_back(std::move(task.run));
        ++done_;
      }
      idle_.notify_all();
    }
  }

  void execute(Task& task) {
    const auto traced_from = c10::getTime();
    const auto until = Clock::now() + Nanoseconds(task.cost_ns);
    // A copy's bytes land at its end, so that a missing synchronisation shows in the data.
    if (task.kind == Kind::memcpy && task.cost_ns > 0)
      sleep_until_precise(until);
    try {
      if (task.run)
        task.run();
    } catch (const std::exception& error) {
      Lock lock(mutex_);
      if (error_.empty())
        error_ = error.what();
    }
    if (task.cost_ns > 0)
      sleep_until_precise(until);
    if (g_tracing && !task.name.empty()) {
      add_record(
          {task.name, task.kind, traced_from, c10::getTime(), device_, id_, task.correlation, task.bytes, 0});
    }
  }

  const int device_, id_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<Task> queue_;
  std::vector<Closure> finished_;
  uint64_t submitted_ = 0, done_ = 0;
  std::string error_;  // of the first task that failed, until a synchronise reports it
  std::thread worker_;
};

// ---- The streams of every device, and each thread's current device and streams

constexpr int kMaxStreams = 33;  // the default stream 0, and a pool of 32 that is handed out in turn

std::mutex g_streams_mutex;
StreamImpl* g_streams[kMaxDevices][kMaxStreams] = {};  // never freed: a worker may outlive static objects
int g_next_stream[kMaxDevices] = {};
thread_local int tl_device = 0;
thread_local int tl_stream[kMaxDevices] = {};

void check_device(int device) {
  TORCH_CHECK(g_device_count > 0, "No simulated devices are available");
  TORCH_CHECK(device >= 0 && device < g_device_count, "invalid device ordinal ", device, ": there are ",
              g_device_count, " simulated devices");
}

void set_device(int device) {
  check_device(device);
  tl_device = device;
}

StreamImpl* get_stream(int device, int id) {
  check_device(device);
  TORCH_CHECK(id >= 0 && id < kMaxStreams, "simulated device ", device, " has no stream ", id);
  Lock lock(g_streams_mutex);
  auto& stream = g_streams[device][id];
  if (!stream)
    stream = new StreamImpl(device, id);
  return stream;
}

StreamImpl* current_stream(int device) {
  check_device(device);
  return get_stream(device, tl_stream[device]);
}

int new_stream(int device) {
  check_device(device);
  Lock lock(g_streams_mutex);
  return 1 + g_next_stream[device]++ % (kMaxStreams - 1);
}

// Those that were ever used, of one device or (-1) of all.
std::vector<StreamImpl*> used_streams(int device) {
  Lock lock(g_streams_mutex);
  std::vector<StreamImpl*> used;
  for (int d = 0; d < kMaxDevices; ++d)
    if (device < 0 || device == d)
      std::copy_if(std::begin(g_streams[d]), std::end(g_streams[d]), std::back_inserter(used),
                   [](StreamImpl* stream) { return stream != nullptr; });
  return used;
}

// For the allocator, which holds its lock: nothing is reaped.
void wait_for_device(int device) {
  check_device(device);
  for (auto* stream : used_streams(device))
    stream->synchronize();
}

void synchronize_device(int device) {
  wait_for_device(device);
  for (auto* stream : used_streams(device))
    stream->reap();
}

void synchronize_stream(StreamImpl* stream) {
  stream->synchronize();
  stream->reap();
}

// Joins the workers before static objects are destroyed; without it some processes abort at exit.
void shutdown() {
  if (g_forked)
    return;
  g_stop = true;
  for (auto* stream : used_streams(-1))
    stream->join();
}

}  // namespace sim

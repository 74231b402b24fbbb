// Events: a mark in a stream, with the time at which the stream reached it.
#pragma once

#include "streams.h"

namespace sim {

class EventImpl {
 public:
  explicit EventImpl(bool timing) : timing_(timing) {}

  bool timing() const { return timing_; }

  static void record(const std::shared_ptr<EventImpl>& event, StreamImpl* stream) {
    uint64_t version;
    {
      Lock lock(event->mutex_);
      version = ++event->recorded_;
    }
    stream->submit({[event, version] { event->reach(version); }, ""});
  }

  // Lets the stream wait for the event as it is recorded now.
  static void block(const std::shared_ptr<EventImpl>& event, StreamImpl* stream) {
    uint64_t version;
    {
      Lock lock(event->mutex_);
      version = event->recorded_;
    }
    stream->submit({[event, version] { event->wait_for(version); }, ""});
  }

  void synchronize() {
    check_not_forked();
    uint64_t version;
    {
      Lock lock(mutex_);
      version = recorded_;
    }
    wait_for(version);
  }

  bool query() {
    Lock lock(mutex_);
    return reached_ >= recorded_;
  }

  Clock::time_point time() {
    Lock lock(mutex_);
    return time_;
  }

 private:
  void reach(uint64_t version) {
    {
      Lock lock(mutex_);
      // Recorded again on a faster stream: the earlier mark comes late and must not set the event back.
      if (version > reached_) {
        time_ = Clock::now();
        reached_ = version;
      }
    }
    reached_changed_.notify_all();
  }

  // Polls for the exit, which has no way to know the events.
  void wait_for(uint64_t version) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (reached_ < version && !g_stop)
      reached_changed_.wait_for(lock, std::chrono::milliseconds(20));
  }

  const bool timing_;
  std::mutex mutex_;
  std::condition_variable reached_changed_;
  uint64_t recorded_ = 0, reached_ = 0;  // versions: an event may be recorded many times
  Clock::time_point time_;
};

using EventPtr = std::shared_ptr<EventImpl>;

double elapsed_ms(const EventPtr& start, const EventPtr& end) {
  TORCH_CHECK(start->timing() && end->timing(),
              "Both events must be created with argument 'enable_timing=True'.");
  TORCH_CHECK(start->query() && end->query(),
              "device not ready: both events must be completed before calculating elapsed time.");
  return std::chrono::duration<double, std::milli>(end->time() - start->time()).count();
}

}  // namespace sim

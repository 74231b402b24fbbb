// What ran when, kept while a profiler session is recording.
#pragma once

#include "common.h"

namespace sim {

enum class Kind { kernel, memcpy, runtime };

struct Record {
  std::string name;
  Kind kind;
  int64_t start, end;  // c10::getTime(), so that they line up with the profiler's CPU rows
  int device, stream;
  int64_t correlation;
  size_t bytes;
  int64_t thread;  // of the host, for runtime rows
};

std::atomic<bool> g_tracing{false};
std::mutex g_trace_mutex;
std::vector<Record> g_trace;
std::atomic<int64_t> g_next_correlation{1};
// Pushed by the profiler around each CPU op: links a kernel to the op that launched it.
thread_local std::vector<uint64_t> tl_correlations;

void add_record(Record record) {
  Lock lock(g_trace_mutex);
  g_trace.push_back(std::move(record));
}

int64_t next_correlation() {
  return tl_correlations.empty() ? g_next_correlation++ : static_cast<int64_t>(tl_correlations.back());
}

// The host's side of an API call: a row of the profile's "runtime" category.
class ApiSpan {
 public:
  explicit ApiSpan(const char* name, int64_t correlation = 0)
      : name_(name), start_(g_tracing ? c10::getTime() : 0), correlation_(correlation) {}

  ~ApiSpan() {
    if (!start_ || !g_tracing)
      return;
    const auto thread = static_cast<int64_t>(libkineto::systemThreadId());
    add_record({name_, Kind::runtime, start_, c10::getTime(), 0, 0, correlation_, 0, thread});
  }

  ApiSpan(const ApiSpan&) = delete;
  ApiSpan& operator=(const ApiSpan&) = delete;

 private:
  const char* name_;
  int64_t start_, correlation_;
};

}  // namespace sim

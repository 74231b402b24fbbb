// torch.ops.simdev.*: what a test turns, and what it may look at.
#pragma once

#include "copies.h"
#include "fallback.h"

namespace sim {

void set_capacity(int64_t bytes) {
  TORCH_CHECK(bytes >= 0, "the capacity cannot be negative: ", bytes);
  g_allocator->set_capacity(static_cast<size_t>(bytes));
}

void set_compute(bool on) {
  g_compute = on;
}

void sleep_kernel(int64_t nanoseconds) {
  launch(tl_device, Kind::kernel, "spin_kernel", nanoseconds, nullptr);
}

// A kernel that fails: the error surfaces at the next synchronise.
void fail(std::string message) {
  launch(tl_device, Kind::kernel, "bad_kernel", 0, [message] { throw std::runtime_error(message); });
}

int64_t launches() {
  return g_launches;
}

int64_t pending() {
  int64_t tasks = 0;
  for (auto* stream : used_streams(-1))
    tasks += stream->pending();
  return tasks;
}

TORCH_LIBRARY(simdev, m) {
  m.def("set_cost(str name, int nanos) -> ()", set_cost);
  m.def("set_compute(bool on) -> ()", set_compute);
  m.def("set_capacity(int nbytes) -> ()", set_capacity);
  m.def("sleep(int nanos) -> ()", sleep_kernel);
  m.def("fail(str message) -> ()", fail);
  m.def("default_generator(int device) -> Generator?",
        [](int64_t device) { return default_generator(static_cast<int>(device)); });
  m.def("shutdown() -> ()", shutdown);
  m.def("forked() -> bool", []() -> bool { return g_forked; });
  m.def("launches() -> int", launches);
  m.def("pending() -> int", pending);
  m.def("sync_fallbacks() -> str", synchronous_report);
}

}  // namespace sim

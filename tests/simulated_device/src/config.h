// The programmable ground truth: what an operation costs, and whether its numbers are computed at all.
#pragma once

#include "common.h"

namespace sim {

constexpr int kMaxDevices = 8;

int64_t environment_number(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

// SIM_DEVICES=0 is a build that supports the device on a machine without one.
const int g_device_count =
    static_cast<int>(std::clamp<int64_t>(environment_number("SIM_DEVICES", 1), 0, kMaxDevices));

std::mutex g_cost_mutex;
// Nanoseconds by operator ("aten::mm"); "*" is the default, "copy:htod_ns_per_kb" and its like are rates.
std::map<std::string, int64_t> g_costs;
std::atomic<bool> g_compute{true};

int64_t cost_of(const std::string& name) {
  Lock lock(g_cost_mutex);
  auto found = g_costs.find(name);
  if (found == g_costs.end())
    found = g_costs.find("*");
  return found == g_costs.end() ? 0 : found->second;
}

// A rate has no default: "*" is the cost of a kernel, not of a kilobyte.
int64_t copy_rate(const char* name) {
  Lock lock(g_cost_mutex);
  const auto found = g_costs.find(name);
  return found == g_costs.end() ? 0 : found->second;
}

void set_cost(std::string name, int64_t nanoseconds) {
  Lock lock(g_cost_mutex);
  if (nanoseconds < 0)
    g_costs.erase(name);
  else
    g_costs[std::move(name)] = nanoseconds;
}

}  // namespace sim

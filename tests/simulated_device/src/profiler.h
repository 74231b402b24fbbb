// Rows for torch.profiler: a child profiler of Kineto, as a vendor's tracing library is one.
#pragma once

#include "streams.h"

namespace sim {

using libkineto::ActivityType;

ActivityType activity_type(Kind kind) {
  if (kind == Kind::kernel)
    return ActivityType::CONCURRENT_KERNEL;
  if (kind == Kind::memcpy)
    return ActivityType::GPU_MEMCPY;
#ifdef SIM_AS_CUDA
  return ActivityType::CUDA_RUNTIME;
#else
  return ActivityType::PRIVATEUSE1_RUNTIME;
#endif
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  void start() override {
    {
      Lock lock(g_trace_mutex);
      g_trace.clear();
    }
    start_ = c10::getTime();
    g_tracing = true;
    status_ = libkineto::TraceStatus::RECORDING;
  }
  void stop() override {
    g_tracing = false;
    end_ = c10::getTime();
    Lock lock(g_trace_mutex);
    records_.swap(g_trace);
    status_ = libkineto::TraceStatus::PROCESSING;
  }
  std::vector<std::string> errors() override { return {}; }

  void processTrace(libkineto::ActivityLogger& logger) override { processTrace(logger, nullptr, 0, 0); }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked, int64_t,
                    int64_t) override {
    buffer_.span = libkineto::TraceSpan(start_, end_, "simdev");
    buffer_.gpuOpCount = 0;
    for (const auto& record : records_) {
      buffer_.emplace_activity(buffer_.span, activity_type(record.kind), record.name);
      auto& activity = *buffer_.activities.back();
      fill(activity, record);
      if (linked && record.correlation)
        activity.linked = linked(static_cast<int32_t>(record.correlation));
      activity.log(logger);
    }
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    return std::make_unique<libkineto::DeviceInfo>(
        libkineto::DeviceInfo{0, libkineto::kExceedMaxPid, "simdev", "SIM 0"});
  }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::vector<libkineto::ResourceInfo> infos;
    for (const auto& [device, stream] : rows_)
      infos.push_back({stream, stream, device, "stream " + std::to_string(stream)});
    return infos;
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::make_unique<libkineto::CpuTraceBuffer>(std::move(buffer_));
  }
  void pushCorrelationId(uint64_t id) override { tl_correlations.push_back(id); }
  void popCorrelationId() override {
    if (!tl_correlations.empty())
      tl_correlations.pop_back();
  }

 private:
  void fill(libkineto::GenericTraceActivity& activity, const Record& record) {
    const bool runtime = record.kind == Kind::runtime;
    activity.startTime = record.start;
    activity.endTime = record.end;
    activity.id = static_cast<int32_t>(record.correlation);
    if (record.correlation) {
      activity.flow.id = static_cast<uint32_t>(record.correlation);
      activity.flow.type = libkineto::kLinkAsyncCpuGpu;
      activity.flow.start = runtime;
      activity.addMetadata("correlation", record.correlation);
    }
    if (runtime) {
      activity.device = libkineto::processId();
      activity.resource = static_cast<int32_t>(record.thread);
      activity.threadId = libkineto::threadId();
      return;
    }
    activity.device = record.device;
    activity.resource = record.stream;
    activity.addMetadata("device", record.device);
    activity.addMetadata("stream", record.stream);
    if (record.bytes)
      activity.addMetadata("bytes", record.bytes);
    ++buffer_.gpuOpCount;
    rows_.insert({record.device, record.stream});
  }

  int64_t start_ = 0, end_ = 0;
  libkineto::CpuTraceBuffer buffer_;
  std::vector<Record> records_;
  std::set<std::pair<int, int>> rows_;  // (device, stream)
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  using Activities = std::set<ActivityType>;
  using SessionPtr = std::unique_ptr<libkineto::IActivityProfilerSession>;

  const std::string& name() const override { return name_; }
  const Activities& availableActivities() const override { return activities_; }
  SessionPtr configure(const Activities&, const libkineto::Config&) override {
    return std::make_unique<Session>();
  }
  SessionPtr configure(int64_t, int64_t, const Activities&, const libkineto::Config&) override {
    return std::make_unique<Session>();
  }

 private:
  std::string name_ = "simdev";
  Activities activities_{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
                         activity_type(Kind::runtime)};
};

#ifdef SIM_AS_CUDA
[[maybe_unused]] const bool g_profiler_registered =
    (libkineto::api().registerProfilerFactory([] { return std::make_unique<Profiler>(); }), true);
#else
const torch::profiler::impl::RegisterPrivateUse1Profiler<Profiler> g_profiler_registered;
#endif

}  // namespace sim

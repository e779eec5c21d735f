// Who may spin: the rules of 8.0 by which log threads and users look at a word for a while before they sleep.
//
// Models      srv_cpu_usage, log_max_spins_when_waiting_in_user_thread, Log_thread_waiting (8.0.11 to
//             9.7.4)
// Leaves out  CPU affinity; that the server looks at user time alone and counts 128 CPUs at most: a look at the engines of
//             figure 7-1 with the high-water mark at 36, 50 and 99 % found the same throughput
// Cost        a load or two where somebody waits; a sample every 100 ms
#pragma once

#include <algorithm>
#include <cstdint>

#include "redo_log/log_config.hpp"

namespace engineroom::redo_log {

template <Machine M>
class CpuGate {
 public:
  CpuGate(M&, const LogConfig& config) : config_(config), words_(4) {}

  /// The thread that samples the CPU time of the process.
  Task<> sample(M& m) {
    std::uint64_t cpu_before = m.cpu_ns();
    std::uint64_t time_before = m.now();
    while (!m.stopping()) {
      co_await m.sleep(config_.cpu_sample_ns);
      const std::uint64_t cpu = m.cpu_ns();
      const std::uint64_t time = m.now();
      if (time > time_before) {
        co_await m.store(words_[kAbsPercent], 100 * (cpu - cpu_before) / (time - time_before));
      }
      cpu_before = cpu;
      time_before = time;
    }
  }

  /// A user asks for a write or a flush: log threads spin only when that happens often.
  Task<> requested(M& m) {
    const std::uint64_t now = m.now();
    const std::uint64_t last = co_await m.xchg(words_[kLastRequest], now);
    const std::uint64_t average = co_await m.load(words_[kInterval]);
    co_await m.store(words_[kInterval], (63 * average + (now > last ? now - last : 0)) / 64);
  }
  Task<> flush_took(M& m, std::uint64_t ns) {
    const std::uint64_t average = co_await m.load(words_[kFlushTime]);
    co_await m.store(words_[kFlushTime], average == 0 ? ns : (63 * average + ns) / 64);
  }

  Task<std::uint64_t> log_thread_rounds(M& m) {
    if (!config_.has_cpu_gate) co_return config_.log_thread_spin_rounds;
    const std::uint64_t abs_percent = co_await m.load(words_[kAbsPercent]);
    const std::uint64_t interval_ns = co_await m.load(words_[kInterval]);
    co_return abs_percent >= config_.cpu_abs_lwm_percent&& interval_ns < config_.frequent_ns
        ? config_.log_thread_spin_rounds
        : 0;
  }

  Task<std::uint64_t> user_rounds(M& m, bool for_flush) {
    const std::uint64_t base = config_.user_spin_rounds;
    if (!config_.has_cpu_gate) co_return base;
    const std::uint64_t abs_percent = co_await m.load(words_[kAbsPercent]);
    const std::uint64_t percent = abs_percent / m.cpus();
    const std::uint64_t hwm = config_.cpu_pct_hwm_percent;
    if (abs_percent < config_.cpu_abs_lwm_percent || percent >= hwm) co_return 0;
    const std::uint64_t flush_ns = co_await m.load(words_[kFlushTime]);
    if (for_flush && flush_ns >= config_.flush_spin_hwm_ns) co_return 0;
    const std::uint64_t half = hwm / 2;
    // Ten times as long on an idle machine, falling to the base at half of the high-water mark.
    co_return percent >= half ? base : base + base * 9 * (half - percent) / half;
  }

 private:
  static constexpr std::size_t kAbsPercent = 0;  // of one core
  static constexpr std::size_t kLastRequest = 1;
  static constexpr std::size_t kInterval = 2;
  static constexpr std::size_t kFlushTime = 3;

  LogConfig config_;
  typename M::Words words_;
};

/// Log_thread_waiting: spin if the gate lets, then sleep on an event, each time a little longer.
struct Backoff {
  std::uint64_t first_ns;
  std::uint64_t longest_ns;
  std::uint64_t timeout_ns = first_ns;
  std::uint64_t waits = 0;

  void again() {
    if (++waits % 4 == 0) timeout_ns = std::min(2 * timeout_ns, longest_ns);
  }
};

}  // namespace engineroom::redo_log

// What the three logs have in common: their parameters, what appending gives back, the flush lists.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/described.hpp"
#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "redo_log/block.hpp"
#include "sync/latch.hpp"

namespace engineroom::redo_log {

using machine::Machine;
using machine::Task;

struct LogConfig {
  std::size_t buffer_bytes = std::size_t{16} << 20;
  std::uint64_t capacity_bytes = std::uint64_t{1} << 40;
  std::size_t write_ahead_bytes = 8192;
  bool seals_blocks = false;

  // What the instructions take that are not shared words and not copies: on real threads what they take
  // there.
  std::uint64_t seal_ns = 60;
  std::uint64_t reserve_ns = 10;
  std::uint64_t flush_list_ns = 30;
  std::uint64_t buffer_pool_instances = 8;
  sync::SpinParams latch_spin{};

  // 8.0
  bool writer_threads = true;  // innodb_log_writer_threads; the design says so, not an option
  bool has_cpu_gate = true;
  std::uint64_t recent_written_slots = std::uint64_t{1} << 20;
  std::uint64_t recent_closed_slots = std::uint64_t{2} << 20;
  std::uint64_t events = 2048;
  std::uint64_t write_max_bytes = 4096;
  std::uint64_t user_spin_rounds = 25'000;
  std::uint64_t log_thread_spin_rounds = 250'000;
  std::uint64_t user_timeout_ns = 1'000'000;
  std::uint64_t log_thread_timeout_ns = 10'000;
  std::uint64_t longest_timeout_ns = 100'000'000;
  std::uint64_t cpu_sample_ns = 100'000'000;
  std::uint64_t cpu_abs_lwm_percent = 80;
  std::uint64_t cpu_pct_hwm_percent = 50;
  std::uint64_t flush_spin_hwm_ns = 400'000;
  std::uint64_t frequent_ns = 1'000'000;
};
constexpr auto described(options::Of<LogConfig>) {
  using options::option;
  using C = LogConfig;
  using Spin = sync::SpinParams;
  return options::list<C>(
      "a redo log",
      {
          option<&C::buffer_bytes>({.least = 16 * kBlockBytes, .most = 1 << 30, .multiple_of = kBlockBytes},
                                   "innodb_log_buffer_size"),
          option<&C::capacity_bytes>({.least = kBlockBytes, .multiple_of = kBlockBytes},
                                     "of the file; a run must not go round it"),
          option<&C::write_ahead_bytes>({.most = 1 << 20, .multiple_of = kBlockBytes},
                                        "innodb_log_write_ahead_size; 5.6 has none"),
          option<&C::seals_blocks>("whether blocks are sealed for recovery; figures that count need not"),
          option<&C::seal_ns>("the checksum of a block"),
          option<&C::reserve_ns>("sizes, conversions, headers, under the mutex in 5.x"),
          option<&C::flush_list_ns>("adding a page to the flush list"),
          option<&C::buffer_pool_instances>(
              {.least = 1, .most = 64}, "innodb_buffer_pool_instances, each with a flush list and its mutex"),
          option<&C::latch_spin, &Spin::rounds>("spin_rounds", "looks at a latch before a thread sleeps"),
          option<&C::latch_spin, &Spin::wait_delay>("spin_wait_delay", "innodb_spin_wait_delay"),
          option<&C::has_cpu_gate>("cpu_gate", "off: log threads and users always spin"),
          option<&C::recent_written_slots>({.least = 1024, .most = 1 << 24, .is_power_of_two = true},
                                           "of the link buffer that finds gaps; a piece of 512 "
                                           "bytes, headers between, is to fit in"),
          option<&C::recent_closed_slots>({.least = 1, .most = 1 << 24, .is_power_of_two = true},
                                          "of the link buffer that bounds the disorder of the flush list"),
          option<&C::events>({.least = 1, .most = 1 << 20, .is_power_of_two = true},
                             "that sessions wait on, by the block of their LSN"),
          option<&C::write_max_bytes>({.least = 1}, "innodb_log_write_max_size"),
          option<&C::user_spin_rounds>(
              "innodb_log_wait_for_write_spin_delay and innodb_log_wait_for_flush_spin_delay"),
          option<&C::log_thread_spin_rounds>(
              "innodb_log_writer_spin_delay and innodb_log_flusher_spin_delay"),
          option<&C::user_timeout_ns>(
              "innodb_log_wait_for_write_timeout and innodb_log_wait_for_flush_timeout"),
          option<&C::log_thread_timeout_ns>(
              "innodb_log_writer_timeout and innodb_log_flusher_timeout; doubled every four waits in a row"),
          option<&C::longest_timeout_ns>("up to which it is doubled"),
          option<&C::cpu_sample_ns>({.least = 1}, "how often the CPU time of the process is sampled"),
          option<&C::cpu_abs_lwm_percent>("innodb_log_spin_cpu_abs_lwm, of one core"),
          option<&C::cpu_pct_hwm_percent>("innodb_log_spin_cpu_pct_hwm, of the machine"),
          option<&C::flush_spin_hwm_ns>("innodb_log_wait_for_flush_spin_hwm"),
          option<&C::frequent_ns>("log threads spin when requests come faster than this"),
      });
}

/// Refuses mini-transactions of so many bytes for which a log of this kind would never have room.
template <typename Log>
void check_room(const LogConfig& config, std::size_t mtr_bytes) {
  const auto too_small = [&](const char* option, std::uint64_t given, std::uint64_t least) {
    refuse("a mini-transaction has " + std::to_string(mtr_bytes) + " bytes and " + option + " is " +
           std::to_string(given) + ": make it at least " + std::to_string(least) +
           ", or the mini-transaction smaller");
  };
  const std::size_t bytes = Log::least_buffer_bytes(config, mtr_bytes);
  if (config.buffer_bytes < bytes) too_small("buffer_bytes", config.buffer_bytes, bytes);
  const std::uint64_t slots = Log::least_recent_closed_slots(mtr_bytes);
  if (config.recent_closed_slots < slots) too_small("recent_closed_slots", config.recent_closed_slots, slots);
}
constexpr std::size_t whole_blocks(std::size_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

/// What a mini-transaction's commit gives back. Not done: the run was stopped first.
struct Appended {
  bool done = false;
  Lsn start_lsn = 0;
  Lsn end_lsn = 0;
};

/// What is counted, in the server's words.
struct LogCounters {
  std::atomic<std::uint64_t> log_waits = 0;  // no room in the buffer
};

/// The flush list of each buffer pool instance: its dirty pages in the order in which they were added, by the LSN of their
/// first change. A page hashes to its instance by the 64 pages that it is one of; here each instance is as likely.
template <Machine M>
class FlushLists {
 public:
  FlushLists(M& m, const LogConfig& config) : site_(m.site("flush_list")), add_ns_(config.flush_list_ns) {
    for (std::uint64_t i = 0; i < config.buffer_pool_instances; ++i) {
      instances_.push_back(std::make_unique<Instance>(m, config.latch_spin));
    }
  }

  /// The page that the running thread has made dirty.
  Task<> add(M& m, Lsn start_lsn) {
    machine::Scope<M> doing(m, site_);
    Instance& instance = *instances_[instances_.size() == 1 ? 0 : drawn(m)];
    co_await instance.latch.lock(m);
    m.charge(add_ns_);
    if (keeps_) instance.added.push_back(start_lsn);
    co_await instance.latch.unlock(m);
  }
  /// A page that has been written leaves its list.
  Task<> remove(M& m) {
    machine::Scope<M> doing(m, site_);
    Instance& instance = *instances_[instances_.size() == 1 ? 0 : drawn(m)];
    co_await instance.latch.lock(m);
    m.charge(add_ns_);
    co_await instance.latch.unlock(m);
  }
  void keep(bool keeps) { keeps_ = keeps; }
  /// Calls each(what was added to one instance), for all of them; that of a run which keeps it.
  void added(const auto& each) const {
    for (const auto& instance : instances_) each(instance->added);
  }

 private:
  struct Instance {
    Instance(M& m, const sync::SpinParams& spin) : latch(m, "flush_list_mutex", spin) {}
    sync::Latch<M> latch;
    std::vector<Lsn> added;  // under the latch
  };

  std::size_t drawn(M& m) const {
    return static_cast<std::size_t>(machine::high_product(m.random(), instances_.size()));
  }

  std::vector<std::unique_ptr<Instance>> instances_;
  machine::Site site_;
  std::uint64_t add_ns_;
  bool keeps_ = false;
};

}  // namespace engineroom::redo_log

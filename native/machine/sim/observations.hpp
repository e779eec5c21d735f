// What a simulated run is asked afterwards: the hash of its trace, waits by name, where time went, intervals.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/observed.hpp"
#include "machine/sim/thread.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

// What the hash is made of beside the operations on words: what a thread begins, and what the system does to it.
enum class Turn : std::uint8_t { woken = 32, preempted, noticed, ended };
constexpr std::uint8_t begins(Action action) {
  return static_cast<std::uint8_t>(16 + static_cast<std::uint8_t>(action));
}

class Observations {
 public:
  explicit Observations(std::uint64_t trace_intervals) : most_intervals_(trace_intervals) {}

  template <typename What>
  void note(Time now, const Thread& t, What what, std::uint64_t value) {
    ++events_;
    const std::uint64_t item = (static_cast<std::uint64_t>(now) << 24) ^
                               (static_cast<std::uint64_t>(t.id) << 4) ^ static_cast<std::uint64_t>(what);
    hash_ = (std::rotl(hash_, 23) ^ item) * 0x9E3779B97F4A7C15U ^ value;
  }
  void charge(const Thread& t, State state, Time ps) {
    activities_[t.activity].ps[static_cast<std::size_t>(state)] += static_cast<std::uint64_t>(ps);
  }
  /// For being in a state since then; what was charged at the last look is not charged again.
  void charge_since(const Thread& t, State state, Time since, Time until) {
    if (const Time from = std::max(since, charged_to_); until > from) charge(t, state, until - from);
  }
  /// Whatever is under way has been charged up to now.
  void charged_to(Time now) { charged_to_ = now; }
  /// `core` is -1 where the thread was on none.
  void keep_interval(const Thread& t, State state, Time start, Time end, std::int32_t core) {
    if (most_intervals_ > 0 && end > start) keep_in_trace(t, state, start, end, core);
  }
  void waited(Site site, const Wait& wait);

  std::uint32_t name(std::string_view text) { return names_.intern(text); }
  void enter(Thread& t, Site site) { t.activity = activities_.child(t.activity, site.id); }
  void leave(Thread& t) { t.activity = activities_[t.activity].parent; }

  std::uint64_t events() const { return events_; }
  std::uint64_t trace_hash() const { return hash_; }
  const std::vector<WaitStats>& waits() const { return waits_; }
  const Names& names() const { return names_; }
  const Activities& activities() const { return activities_; }
  const std::vector<Interval>& trace() const { return trace_; }
  std::uint64_t intervals_not_kept() const { return intervals_not_kept_; }

 private:
  void keep_in_trace(const Thread& t, State state, Time start, Time end, std::int32_t core);

  std::uint64_t events_ = 0;
  Time charged_to_ = 0;
  std::uint64_t hash_ = 0x243F6A8885A308D3U;
  Names names_;
  Activities activities_;
  std::vector<WaitStats> waits_;
  std::vector<Interval> trace_;
  std::uint64_t most_intervals_;
  std::uint64_t intervals_not_kept_ = 0;
};

}  // namespace engineroom::machine::sim

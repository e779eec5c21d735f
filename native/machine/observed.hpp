// What a run is asked afterwards, the same on both machines: waits by name, where each core's time went, and
// what the threads did. Real threads cannot see that they wait for a line: there `memory` is part of `work`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "machine/concept.hpp"
#include "machine/histogram.hpp"

namespace engineroom::machine {

/// All waits on the latches, events or files of one name.
struct WaitStats {
  std::uint64_t spin_rounds = 0;
  std::uint64_t parks = 0;
  Histogram ns;
};

/// Where the time of a core went. `memory` is waiting for cache lines; `io_wait` is idle while a thread that
/// last ran here waits for a disk.
enum class Purpose : std::uint8_t { work, memory, spin, switching, idle, io_wait };
constexpr std::size_t kPurposes = 6;
struct CoreTime {
  std::uint64_t ps[kPurposes] = {};
  std::uint64_t& operator[](Purpose purpose) { return ps[static_cast<std::size_t>(purpose)]; }
};

/// What a thread was in during an interval.
enum class State : std::uint8_t { work, memory, spin, runnable, parked, io, sleeping };
constexpr std::size_t kStates = 7;

/// A node of the picture of where time went: what the thread did, within what its parent did.
struct Activity {
  std::uint32_t parent;
  std::uint32_t site;
  std::uint64_t ps[kStates] = {};
};

/// An interval of a thread, for a trace that a viewer shows. `core` is -1 where the thread was on none.
struct Interval {
  std::uint64_t start_ps;
  std::uint64_t end_ps;
  std::uint32_t thread;
  std::int32_t core;
  std::uint32_t state;
  std::uint32_t site;
};

/// All of it, up to a moment.
struct Totals {
  std::vector<WaitStats> waits;      // by site; a count of 0 was never waited for
  std::vector<Activity> activities;  // the nodes of the tree
  std::vector<CoreTime> cores;

  /// What there was from then on. Waits are counted where they end.
  Totals since(const Totals& before) const {
    Totals later = *this;
    for (std::size_t i = 0; i < before.waits.size(); ++i) {
      later.waits[i].spin_rounds -= before.waits[i].spin_rounds;
      later.waits[i].parks -= before.waits[i].parks;
      later.waits[i].ns = waits[i].ns.since(before.waits[i].ns);
    }
    for (std::size_t i = 0; i < before.activities.size(); ++i) {
      for (std::size_t s = 0; s < kStates; ++s) later.activities[i].ps[s] -= before.activities[i].ps[s];
    }
    for (std::size_t i = 0; i < before.cores.size(); ++i) {
      for (std::size_t p = 0; p < kPurposes; ++p) later.cores[i].ps[p] -= before.cores[i].ps[p];
    }
    return later;
  }
};

/// Names given once, found by their number.
class Names {
 public:
  Names() { intern("unnamed"); }
  std::uint32_t intern(std::string_view name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    ids_.emplace(std::string(name), id);
    return id;
  }
  const std::string& operator[](std::uint32_t id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

/// The tree of activities: root is 0.
class Activities {
 public:
  Activities() : nodes_{{0, 0}} {}
  /// The child of `parent` of this name, made when it is asked for first.
  std::uint32_t child(std::uint32_t parent, std::uint32_t site) {
    const std::uint64_t key = (std::uint64_t{parent} << 32) | site;
    const auto [found, is_new] = children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, site});
    return found->second;
  }
  Activity& operator[](std::uint32_t node) { return nodes_[node]; }
  const std::vector<Activity>& nodes() const { return nodes_; }

 private:
  std::vector<Activity> nodes_;
  std::map<std::uint64_t, std::uint32_t> children_;
};

}  // namespace engineroom::machine

// Cache lines: who has one, what it costs to read and to write it, and who waits for a change of it.
//
// Models      any number of copies, one after a write; a request waits until the line is free, then for its way: from the
//             nearest copy to a reader, and to a writer from the farthest, which has to be given up. Where lines stay
//             (line_stay_permille), who has one alone keeps it until the next request has come so far, and hits it meanwhile: an
//             owner answers others' requests when they reach its cache, as in the directory protocols of Nagarajan et al., A
//             Primer on Memory Consistency and Cache Coherence (2nd edition, 2020), chapter 8
// Leaves out  capacity: a line stays where it was used; that a request from near may be served before an earlier one from far
// Cost        a few comparisons per access, no event of its own
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/concept.hpp"
#include "machine/cpu_set.hpp"
#include "machine/sim/topology.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

/// No CPU, no thread.
constexpr std::int32_t kNone = -1;

/// Where a line that others have asked for is until it gets to the last of them: one stay after the other.
class Stays {
 public:
  /// Whether the CPU has the line now. What is over is forgotten.
  bool is_at(std::uint32_t cpu, Time now) {
    while (first_ < all_.size() && all_[first_].to < now) ++first_;
    return first_ < all_.size() && all_[first_].cpu == cpu && all_[first_].from <= now;
  }
  /// Behind those that are there.
  void add(std::uint32_t cpu, Time from, Time to) {
    if (first_ == all_.size() || all_.size() == all_.capacity()) {
      all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    all_.push_back({from, to, cpu});
  }

 private:
  struct Stay {
    Time from;
    Time to;
    std::uint32_t cpu;
  };
  std::vector<Stay> all_;
  std::size_t first_ = 0;  // that may not be over
};

struct Line {
  CpuSet sharers;                     // when all requests are served
  std::unique_ptr<Stays> stays;       // until then; none before the first request to another CPU
  Time free_at = 0;                   // when the last request is served
  std::int32_t watchers = kNone;      // threads that spin on it and have a copy (spins.hpp)
  std::int32_t first_parked = kNone;  // threads that sleep on it (parked.hpp)
  std::int32_t last_parked = kNone;
};

struct Ref {
  std::uint64_t* value;
  Line* line;
};

/// A shared word on a line of its own.
class Word {
 public:
  explicit Word(std::uint64_t initial = 0) : value_(initial) {}
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;
  operator Ref() { return {&value_, &line_}; }  // NOLINT: a word is used as its reference

 private:
  std::uint64_t value_;
  Line line_;
};

class Words {
 public:
  static constexpr std::size_t kPerLine = 8;
  explicit Words(std::size_t n) : values_(n), lines_((n + kPerLine - 1) / kPerLine) {}
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  Ref operator[](std::size_t i) { return {&values_[i], &lines_[i / kPerLine]}; }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::uint64_t> values_;
  std::vector<Line> lines_;
};

/// Data that threads share besides words: a page, the root of an index. Only where it lies matters here.
class Lines {
 public:
  explicit Lines(std::size_t n) : lines_(n) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  std::span<Line> some(std::size_t first, std::size_t count) {
    return std::span(lines_).subspan(first, count);
  }
  std::size_t size() const { return lines_.size(); }

 private:
  std::vector<Line> lines_;
};

class CacheLines {
 public:
  CacheLines(const SimConfig& config, const Topology& topology) : config_(config), topology_(topology) {}

  /// Whether an operation waits until the line has come. Otherwise it takes effect at once, and its thread waits behind it.
  bool stay() const { return config_.line_stay_permille > 0; }
  /// How long a CPU that asks for the line now waits for it; 0 where it is there.
  Time bring(Line& line, std::uint32_t cpu, Time now, Access access) const {
    if (access == Access::read) {
      return line.sharers.has(cpu) || is_still_at(line, cpu, now) ? 0 : fetch(line, cpu, now);
    }
    return line.sharers.only(cpu) || is_still_at(line, cpu, now) ? 0 : fetch_alone(line, cpu, now);
  }
  /// How long the operation takes behind that.
  Time operation(Access access) const { return access == Access::read ? config_.load_ps : config_.rmw_ps; }

 private:
  Time fetch(Line& line, std::uint32_t cpu, Time now) const;
  Time fetch_alone(Line& line, std::uint32_t cpu, Time now) const;
  static bool is_still_at(const Line& line, std::uint32_t cpu, Time now) {
    return line.stays != nullptr && line.stays->is_at(cpu, now);
  }
  void end_stay(Line& line, Time start, Time way) const;
  Time from_nearest(const Line& line, std::uint32_t cpu) const;
  Time from_farthest(const Line& line, std::uint32_t cpu) const;

  const SimConfig& config_;
  const Topology& topology_;
};

}  // namespace engineroom::machine::sim

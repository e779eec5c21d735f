// Cache lines: who has one, what it costs to read and to write it, and who waits for a change of it.
//
// Models      any number of copies, one after a write; a request waits until the line is free, then for its way: from the
//             nearest copy to a reader, and to a writer from the farthest, which has to be given up
// Leaves out  capacity: a line stays where it was used
// Cost        a few comparisons per access, no event of its own
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "machine/cpu_set.hpp"
#include "machine/sim/topology.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

/// No CPU, no thread.
constexpr std::int32_t kNone = -1;

struct Line {
  CpuSet sharers;
  Time free_at = 0;
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

  /// How long a CPU's access takes from `now` on. The line is the CPU's from then on.
  Time read(Line& line, std::uint32_t cpu, Time now) const {
    return line.sharers.has(cpu) ? config_.load_ps : fetch(line, cpu, now);
  }
  Time write(Line& line, std::uint32_t cpu, Time now) const {
    return line.sharers.only(cpu) ? config_.rmw_ps : fetch_alone(line, cpu, now);
  }

 private:
  Time fetch(Line& line, std::uint32_t cpu, Time now) const;
  Time fetch_alone(Line& line, std::uint32_t cpu, Time now) const;
  Time from_nearest(const Line& line, std::uint32_t cpu) const;
  Time from_farthest(const Line& line, std::uint32_t cpu) const;

  const SimConfig& config_;
  const Topology& topology_;
};

}  // namespace engineroom::machine::sim

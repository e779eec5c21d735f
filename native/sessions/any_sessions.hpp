// Sessions over an engine, whichever it is, as a caller that runs them and counts sees them: each engine is compiled once, where it is at home.
//
// Leaves out  what else an engine can be asked
// Cost        a virtual call for each look from outside, none while the run goes on
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "machine/concept.hpp"
#include "sessions/sessions.hpp"

namespace engineroom::sessions {

/// By name.
using EngineCounts = std::vector<std::pair<const char*, std::uint64_t>>;

template <typename File>
EngineCounts file_counts(const File& file) {
  return {{"fsyncs", file.fsyncs()}, {"writes", file.writes()}, {"written_bytes", file.written_bytes()}};
}

template <machine::Machine M>
class AnySessions {
 public:
  virtual ~AnySessions() = default;

  // As of Sessions.
  virtual void spawn(M& m) = 0;
  virtual Counts counts() const = 0;
  virtual std::uint64_t clients() const = 0;
  virtual std::uint64_t transactions() const = 0;
  virtual bool ends_by_itself() const = 0;
  virtual std::uint64_t ended_ns() const = 0;

  /// What the engine has counted since its start.
  virtual EngineCounts engine_counts() const = 0;
  /// What is of one moment.
  virtual EngineCounts states() const { return {}; }
};

/// Sessions of one kind; what their engine has counted is left to a class of it.
template <machine::Machine M, typename Of>
class SessionsOf : public AnySessions<M> {
 public:
  void spawn(M& m) final { sessions_.spawn(m); }
  Counts counts() const final { return sessions_.counts(); }
  std::uint64_t clients() const final { return sessions_.clients(); }
  std::uint64_t transactions() const final { return sessions_.transactions(); }
  bool ends_by_itself() const final { return sessions_.ends_by_itself(); }
  std::uint64_t ended_ns() const final { return sessions_.ended_ns(); }

 protected:
  /// The sessions may be made behind this.
  explicit SessionsOf(Of& sessions) : sessions_(sessions) {}

 private:
  Of& sessions_;
};

}  // namespace engineroom::sessions

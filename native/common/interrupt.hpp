// Lets a reader stop a long kernel (Ctrl-C): the kernel counts its steps and asks now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace engineroom {

/// Calls `poll` about every four million steps. `poll` ends the kernel by throwing; without one, nothing
/// happens.
class Interrupt {
 public:
  Interrupt() = default;
  explicit Interrupt(std::function<void()> poll) : poll_(std::move(poll)) {}

  void advance(std::uint64_t steps) {
    steps_ += steps;
    if (steps_ >= kStepsBetweenPolls) {
      steps_ = 0;
      ask();
    }
  }
  /// For what knows itself how long its steps take.
  void ask() const {
    if (poll_) poll_();
  }

 private:
  static constexpr std::uint64_t kStepsBetweenPolls = std::uint64_t{1} << 22;

  std::function<void()> poll_;
  std::uint64_t steps_ = 0;
};

}  // namespace engineroom

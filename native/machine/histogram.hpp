// Counts of durations in classes whose width is 1/16 of their size: quantiles within about 3 per cent.
//
// Models      the latency histograms of performance_schema, finer
// Leaves out  the order of the values
// Cost        one increment a value, 8 KiB
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace engineroom::machine {

class Histogram {
 public:
  static constexpr std::size_t kSubclasses = 16;
  static constexpr std::size_t kClasses = 61 * kSubclasses;

  void add(std::uint64_t value) {
    if (counts_.empty()) counts_.resize(kClasses);
    ++counts_[class_of(value)];
    ++count_;
    total_ += value;
  }
  void add(const Histogram& other) {
    if (other.counts_.empty()) return;
    if (counts_.empty()) counts_.resize(kClasses);
    for (std::size_t i = 0; i < kClasses; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    total_ += other.total_;
  }

  /// What was added since this one was `before`.
  Histogram since(const Histogram& before) const {
    Histogram later = *this;
    for (std::size_t i = 0; i < before.counts_.size(); ++i) later.counts_[i] -= before.counts_[i];
    later.count_ -= before.count_;
    later.total_ -= before.total_;
    return later;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t total() const { return total_; }
  /// The middle of the class that holds the quantile `permille`; 0 when nothing was added.
  std::uint64_t quantile(std::uint64_t permille) const {
    const std::uint64_t rank = (count_ * permille + 999) / 1000;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank && counts_[i] > 0) return (lower_bound(i) + lower_bound(i + 1)) / 2;
    }
    return 0;
  }
  /// Empty, or one count for each class.
  const std::vector<std::uint64_t>& counts() const { return counts_; }

  static constexpr std::size_t class_of(std::uint64_t value) {
    if (value < kSubclasses) return static_cast<std::size_t>(value);
    const auto octave = static_cast<std::size_t>(std::bit_width(value)) - 5;
    return octave * kSubclasses + static_cast<std::size_t>(value >> octave);
  }
  static constexpr std::uint64_t lower_bound(std::size_t a_class) {
    if (a_class < 2 * kSubclasses) return a_class;
    const std::size_t octave = a_class / kSubclasses - 1;
    return (a_class % kSubclasses + kSubclasses) << octave;
  }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace engineroom::machine

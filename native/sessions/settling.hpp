// How long a window must be: until the throughput in it is known to some percent.
//
// Models      batch means: the window in 10 to 19 batches of equal length, whose means are nearly independent when a batch is
//             long against a convoy on a latch; two become one whenever there are 20
// Leaves out  that looking again and again finds a narrow interval sooner than it should: the interval that is told covers
//             somewhat less than 95 %
// Cost        nothing
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace engineroom::sessions {

class Settling {
 public:
  static constexpr std::size_t kFewest = 10;

  /// `half_width_permille`: of the mean, half of its interval of 95 %. `fewest`: events that must have been counted.
  Settling(std::uint64_t half_width_permille, std::uint64_t fewest)
      : half_width_permille_(half_width_permille), fewest_(fewest) {}

  /// What was counted in the next piece of the window; all pieces are of one length.
  void add(std::uint64_t counted) {
    pending_ += counted;
    if (++in_pending_ < in_one_) return;
    batches_.push_back(pending_);
    pending_ = in_pending_ = 0;
    if (batches_.size() < 2 * kFewest) return;
    for (std::size_t i = 0; i < kFewest; ++i) batches_[i] = batches_[2 * i] + batches_[2 * i + 1];
    batches_.resize(kFewest);
    in_one_ *= 2;
  }
  bool is_settled() const {
    return in_pending_ == 0 && batches_.size() >= kFewest && total() >= fewest_ &&
           half_width() * 1000 <= static_cast<double>(half_width_permille_);
  }
  /// Half of the mean's interval of 95 %, over the mean; 1 where nothing was counted.
  double half_width() const {
    if (batches_.size() < 2 || total() == 0) return 1;
    // In integers up to the root, so that it is the same on every processor.
    const std::uint64_t n = batches_.size();
    unsigned __int128 squares = 0;
    for (const std::uint64_t each : batches_) squares += static_cast<unsigned __int128>(each) * each;
    const unsigned __int128 sum = total();
    const double variance = static_cast<double>(n * squares - sum * sum) / static_cast<double>(n - 1);
    return student(n - 1) * std::sqrt(variance) / static_cast<double>(total());
  }

 private:
  std::uint64_t total() const {
    std::uint64_t all = 0;
    for (const std::uint64_t each : batches_) all += each;
    return all;
  }
  /// Student's t of 97.5 % for 9 to 18 degrees of freedom; fewer are only told, never decided by.
  static double student(std::size_t freedom) {
    constexpr std::array<double, 10> kOf9To18{2.262, 2.228, 2.201, 2.179, 2.160,
                                              2.145, 2.131, 2.120, 2.110, 2.101};
    return freedom < 9 ? kOf9To18[0] : kOf9To18[std::min<std::size_t>(freedom - 9, kOf9To18.size() - 1)];
  }

  std::uint64_t half_width_permille_;
  std::uint64_t fewest_;
  std::vector<std::uint64_t> batches_;
  std::uint64_t in_one_ = 1;  // pieces of a batch
  std::uint64_t in_pending_ = 0;
  std::uint64_t pending_ = 0;
};

}  // namespace engineroom::sessions

// A logger that collects a message in a stream and fails when it is destroyed, as a statement's last act.
//
// Models      ib::logger and ib::fatal (ut0log.h, 8.0): a stream as a member, so each use constructs,
//             writes and destroys it
// Leaves out  the error log; ours throws where the server ends itself, so that a test can see it
#pragma once

#include <sstream>

namespace engineroom::low_concurrency {

class Fatal {
 public:
  Fatal() = default;
  Fatal(const Fatal&) = delete;
  Fatal& operator=(const Fatal&) = delete;
  /// Elsewhere, and not marked as one that does not return, as the server's: who uses it must be ready to go
  /// on.
  ~Fatal() noexcept(false);
  template <typename T>
  Fatal& operator<<(const T& value) {
    stream_ << value;
    return *this;
  }

 private:
  std::ostringstream stream_;
};

}  // namespace engineroom::low_concurrency

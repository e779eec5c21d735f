// A redo log of whichever design, chosen when it is made.
//
// Cost        a branch a call; no task of its own
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "machine/concept.hpp"
#include "redo_log/design.hpp"
#include "redo_log/log_5_6.hpp"
#include "redo_log/log_5_7.hpp"
#include "redo_log/log_8_0.hpp"

namespace engineroom::redo_log {

/// The parameters of a log, completed by what its design says.
inline LogConfig completed(Design design, LogConfig log) {
  log.writer_threads = design == Design::log_8_0;
  if (design == Design::log_5_6) log.write_ahead_bytes = 0;
  return log;
}

/// Calls call.operator()<Log>() with the type of this design's log.
template <machine::Machine M, typename Call>
auto with_type(Design design, const Call& call) {
  if (design == Design::log_5_6) return call.template operator()<Log56<M>>();
  if (design == Design::log_5_7) return call.template operator()<Log57<M>>();
  return call.template operator()<Log80<M>>();
}

template <machine::Machine M>
class AnyLog {
 public:
  /// Refuses mini-transactions for which the log would never have room.
  AnyLog(M& m, typename M::File& file, Design design, const LogConfig& config, std::size_t most_mtr_bytes) {
    const LogConfig log = completed(design, config);
    with_type<M>(design, [&]<typename Log>() {
      check_room<Log>(log, most_mtr_bytes);
      log_.emplace(std::in_place_type<Log>, m, file, log);
    });
  }

  // As of each log.
  void spawn_threads(M& m) {
    return call([&](auto& log) { log.spawn_threads(m); });
  }
  Task<Appended> append(M& m, std::span<const std::byte> group, bool dirties) {
    return call([&](auto& log) { return log.append(m, group, dirties); });
  }
  Task<bool> write_up_to(M& m, Lsn lsn, bool flush) {
    return call([&](auto& log) { return log.write_up_to(m, lsn, flush); });
  }
  Task<Lsn> end_lsn(M& m) {
    return call([&](auto& log) { return log.end_lsn(m); });
  }
  Task<> leave_flush_list(M& m) {
    return call([&](auto& log) { return log.flush_lists().remove(m); });
  }
  Lsn flushed_lsn(M& m) const {
    return std::visit([&](const auto& log) { return log.flushed_lsn(m); }, *log_);
  }

 private:
  auto call(const auto& body) { return std::visit(body, *log_); }

  std::optional<std::variant<Log56<M>, Log57<M>, Log80<M>>> log_;
};

}  // namespace engineroom::redo_log

// Notes what the stages do and when, for the picture of one run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/names.hpp"
#include "group_commit/watch.hpp"

namespace engineroom::group_commit {

enum class Happening : std::uint8_t { reached, leads, ends, follows, delays, told };
constexpr auto named(names::Of<Happening>) { return names::as_written<Happening::told>("happening"); }

struct Happened {
  std::uint64_t ns;
  Happening what;
  std::uint8_t which;  // a Step or a Stage
  std::vector<std::uint64_t> xids;
};

/// Without a list it notes nothing.
template <typename M>
class Recorder {
 public:
  Recorder(M* m, std::vector<Happened>* all) : m_(m), all_(all) {}

  void reached(Step step, Tickets tickets) const { add(Happening::reached, step, tickets); }
  void leads(Stage stage, const Ticket& ticket) const { add(Happening::leads, stage, {ticket.xid}); }
  void ends(Stage stage) const { add(Happening::ends, stage, std::vector<std::uint64_t>{}); }
  void follows(Stage stage, const Ticket& ticket) const { add(Happening::follows, stage, {ticket.xid}); }
  void delays(Tickets tickets) const { add(Happening::delays, Stage::sync, tickets); }
  void told(const Ticket& ticket) const { add(Happening::told, Step::acknowledged, {ticket.xid}); }

 private:
  template <typename Which>
  void add(Happening what, Which which, Tickets tickets) const {
    if (all_ == nullptr) return;
    std::vector<std::uint64_t> xids;
    for (const auto& ticket : tickets) xids.push_back(ticket->xid);
    add(what, which, std::move(xids));
  }
  template <typename Which>
  void add(Happening what, Which which, std::vector<std::uint64_t> xids) const {
    if (all_ == nullptr) return;
    all_->push_back({m_->now(), what, static_cast<std::uint8_t>(which), std::move(xids)});
  }

  M* m_;
  std::vector<Happened>* all_;
};

}  // namespace engineroom::group_commit

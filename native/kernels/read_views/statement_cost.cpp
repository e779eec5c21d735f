#include "read_views/statement_cost.hpp"

#include "machine/sim_machine.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {

namespace {

using machine::SimMachine;
using machine::Task;
using transactions::Trx;
using transactions::TrxId;
using transactions::TrxSys;
using transactions::TrxSysConfig;

class OneSession {
  using M = SimMachine;

 public:
  OneSession(M& m, const TrxSysConfig& config, Level level, bool has_binlog)
      : trx_sys_(m, config), level_(level), has_binlog_(has_binlog) {}

  Task<> run(M& m, Kind kind, std::uint64_t repeats) {
    co_await transaction(m, kind);  // the first finds no view of its own
    const StatementCost before = so_far(m);
    StatementCost others;
    for (std::uint64_t i = 0; i < repeats; ++i) {
      if (kind == Kind::select_behind_a_write || kind == Kind::update_behind_a_write) {
        co_await write_of_another(m, others);
      }
      if (kind == Kind::two_selects_around_a_write) {
        co_await trx_sys_.begin(m, session_, false);
        co_await select(m);
        co_await write_of_another(m, others);
        co_await select(m);
        co_await trx_sys_.end_of_reads(m, session_);
        continue;
      }
      co_await transaction(m, kind);
    }
    const StatementCost after = so_far(m);
    cost = {.mutex = after.mutex - before.mutex - others.mutex,
            .serialisation = after.serialisation - before.serialisation - others.serialisation,
            .shards = after.shards - before.shards - others.shards,
            .counter_values = after.counter_values - before.counter_values};
  }

  StatementCost cost;

 private:
  StatementCost so_far(M& m) {
    const auto& counters = trx_sys_.counters();
    return {counters.mutex, counters.serialisation, counters.shards, trx_sys_.counter(m)};
  }
  Task<> transaction(M& m, Kind kind) {
    if (kind == Kind::update || kind == Kind::update_behind_a_write) {
      co_await trx_sys_.begin(m, session_, false);
      co_await update(m, session_);
      co_await commit(m, session_);
    } else if (kind == Kind::select || kind == Kind::select_behind_a_write) {
      co_await trx_sys_.begin(m, session_, true);
      co_await trx_sys_.open_view(m, session_);
      co_await trx_sys_.end_of_reads(m, session_);
    } else {
      co_await trx_sys_.begin(m, session_, false);
      co_await select(m);
      if (kind == Kind::select_update_select) co_await update(m, session_);
      co_await select(m);
      if (kind == Kind::select_update_select) {
        co_await commit(m, session_);
      } else {
        co_await trx_sys_.end_of_reads(m, session_);
      }
    }
  }
  Task<> write_of_another(M& m, StatementCost& others) {
    const StatementCost before = so_far(m);
    co_await trx_sys_.begin(m, other_, false);
    co_await update(m, other_);
    co_await commit(m, other_);
    const StatementCost after = so_far(m);
    others.mutex += after.mutex - before.mutex;
    others.serialisation += after.serialisation - before.serialisation;
    others.shards += after.shards - before.shards;
  }
  Task<> select(M& m) {
    co_await trx_sys_.open_view(m, session_);
    if (level_ == Level::read_committed) co_await trx_sys_.drop_view(m, session_);
  }
  Task<> update(M& m, Trx<M>& trx) {
    co_await trx_sys_.become_read_write(m, trx);
    co_await trx_sys_.is_active(m, last_writer_);
    last_writer_ = trx.id;
  }
  Task<> commit(M& m, Trx<M>& trx) {
    if (has_binlog_) co_await trx_sys_.prepare_commit(m, trx);
    co_await trx_sys_.commit(m, trx);
  }

  TrxSys<M> trx_sys_;
  Level level_;
  bool has_binlog_;
  Trx<M> session_;
  Trx<M> other_;
  TrxId last_writer_ = 0;
};

}  // namespace

StatementCost statement_cost(transactions::Latches latches, transactions::Views views, Kind kind, Level level,
                             bool has_binlog, std::uint64_t repeats) {
  TrxSysConfig config{.latches = latches, .views = views};
  SimMachine m(machine::SimConfig{});
  OneSession session(m, config, level, has_binlog);
  m.spawn("session", [&] { return session.run(m, kind, repeats); });
  m.run();
  return session.cost;
}

}  // namespace engineroom::read_views

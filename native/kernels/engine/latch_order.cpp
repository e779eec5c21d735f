#include "engine/latch_order.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "machine/random.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::engine {

namespace {

using machine::SimMachine;
using machine::Site;

/// Keeps the names of the latches that are asked for.
class Noting : public SimMachine {
 public:
  explicit Noting(const machine::SimConfig& config)
      : SimMachine(config), reservation_(site("log_reservation")) {}

  /// A latch tells its machine, if the machine wants to know.
  void asked_for(Site latch) { note(latch); }
  void enter(Site site) {
    if (site.id == reservation_.id) note(site);
    SimMachine::enter(site);
  }

  std::vector<std::string> taken() { return std::exchange(asked_, {}); }

 private:
  void note(Site site) { asked_.push_back(names()[site.id]); }

  Site reservation_;
  std::vector<std::string> asked_;
};

struct OneClient {
  Engine<Noting>& engine;
  const LoadConfig& load;
  const DemandTable& demands;
  std::uint64_t transactions;
  std::vector<AskedFor>& seen;

  const Demand& demand_of(Statement statement) const { return demands[static_cast<std::size_t>(statement)]; }
  void keep(Noting& m, Statement statement, bool is_next) {
    std::vector<std::string> latches = m.taken();
    if (!is_next) seen.push_back({.statement = statement, .latches = {}});
    std::vector<std::string>& all = seen.back().latches;
    all.insert(all.end(), latches.begin(), latches.end());
  }

  Task<> run(Noting& m) {
    Session<Noting> session(m, 0);
    machine::Random random(m.random());
    Script script;
    for (std::uint64_t i = 0; i < transactions; ++i) {
      draw(load, random, script);
      m.taken();
      bool has_begun = false;
      for (const Step& step : script.steps) {
        if (Orders::leaves_out(session.orders, step)) continue;
        if (!has_begun) co_await engine.begin(m, session);
        has_begun = true;
        const Outcome outcome = co_await engine.step(m, session, step, demand_of(step.statement));
        if (outcome != Outcome::granted) co_return;  // stopped: nobody else is there
        keep(m, step.statement, step.is_next_of_statement);
      }
      const bool is_done = script.rolls_back ? co_await engine.roll_back(m, session)
                                             : co_await engine.commit(m, session, demand_of(script.commit));
      if (!is_done) co_return;
      keep(m, script.commit, false);
    }
    m.stop();
  }
};

}  // namespace

std::vector<AskedFor> latch_order(const machine::SimConfig& config, const Parts& parts,
                                  const LoadConfig& load, const Demands& demands, std::uint64_t transactions,
                                  std::uint64_t seed, std::function<void(std::uint64_t now_ns)> poll) {
  Noting m(config);
  m.set_poll(std::move(poll));
  SimMachine::File redo(m, "redo", machine::Bytes::counted);
  const DemandTable table = demand_table(load.kind, demands);
  std::size_t most_bytes = 1;
  for (const Demand& demand : table) most_bytes = std::max<std::size_t>(most_bytes, demand.mtr_bytes);
  const std::uint64_t districts = load.kind == LoadKind::tpcc ? load.warehouses * kDistricts : 0;
  Engine<Noting> engine(m, redo, parts, districts, most_bytes, seed, [&m] {
    return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted);
  });
  std::vector<AskedFor> seen;
  OneClient client{engine, load, table, transactions, seen};
  engine.spawn_threads(m);
  m.spawn("client", [&] { return client.run(m); });
  m.run();
  return seen;
}

}  // namespace engineroom::engine

#include "group_commit/any_load.hpp"

namespace engineroom::group_commit {

namespace {

using machine::SimMachine;

auto new_binlog(SimMachine& m) {
  return [&m] { return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted); };
}

template <typename Log>
class Over final
    : public sessions::SessionsOf<SimMachine, sessions::Sessions<SimMachine, CommitEngine<SimMachine, Log>>> {
 public:
  Over(SimMachine& m, Design design, const CommitConfig& commit, const redo_log::LogConfig& log,
       SimMachine::File& redo, const LoadConfig& load)
      : sessions::SessionsOf<SimMachine, sessions::Sessions<SimMachine, CommitEngine<SimMachine, Log>>>(
            made_.sessions),
        redo_(redo),
        made_(m, design, commit, log, redo, new_binlog(m), load) {}

  sessions::EngineCounts engine_counts() const override {
    const auto binlog = made_.engine.binlog().counted();
    const StageCounters& stages = made_.engine.counters();
    return {{"redo_fsyncs", redo_.fsyncs()},         {"redo_writes", redo_.writes()},
            {"redo_bytes", redo_.written_bytes()},   {"binlog_fsyncs", binlog.fsyncs},
            {"binlog_writes", binlog.writes},        {"binlog_bytes", binlog.written_bytes},
            {"flush_groups", stages.flush_groups},   {"sync_groups", stages.sync_groups},
            {"commit_groups", stages.commit_groups}, {"rotations", stages.rotations}};
  }

 private:
  const SimMachine::File& redo_;
  Load<SimMachine, Log> made_;
};

}  // namespace

std::unique_ptr<sessions::AnySessions<SimMachine>> any_load(SimMachine& m, Design design,
                                                            redo_log::Design redo, const CommitConfig& commit,
                                                            const redo_log::LogConfig& log,
                                                            SimMachine::File& file, const LoadConfig& load) {
  std::unique_ptr<sessions::AnySessions<SimMachine>> made;
  redo_log::with_type<SimMachine>(redo, [&]<typename Log>() {
    made = std::make_unique<Over<Log>>(m, design, commit, redo_log::completed(redo, log), file, load);
  });
  return made;
}

std::vector<Happened> trace(SimMachine& m, Design design, redo_log::Design redo, const CommitConfig& commit,
                            const LoadConfig& load, std::uint64_t run_ns) {
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  std::vector<Happened> all;
  using Watch = Recorder<SimMachine>;
  redo_log::with_type<SimMachine>(redo, [&]<typename Log>() {
    Load<SimMachine, Log, Watch> made(m, design, commit, redo_log::completed(redo, {}), file, new_binlog(m),
                                      load, Watch(&m, &all));
    made.sessions.spawn(m);
    m.run_on(run_ns);
  });
  return all;
}

}  // namespace engineroom::group_commit

#include "group_commit/trace.hpp"

#include <memory>

namespace engineroom::group_commit {

using machine::SimMachine;

std::vector<Happened> trace(SimMachine& m, Design design, redo_log::Design redo, const CommitConfig& commit,
                            const LoadConfig& load, std::uint64_t run_ns) {
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  std::vector<Happened> all;
  using Watch = Recorder<SimMachine>;
  with_redo<SimMachine>(redo, {}, [&]<typename Log>(const redo_log::LogConfig& of_design) {
    Load<SimMachine, Log, Watch> made(
        m, design, commit, of_design, file,
        [&m] { return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted); }, load,
        Watch(&m, &all));
    made.sessions.spawn(m);
    m.run_on(run_ns);
  });
  return all;
}

}  // namespace engineroom::group_commit

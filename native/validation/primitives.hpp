// How long the primitives of the machine at hand take: what the simulated machine's parameters are made from.
//
// Models      nothing
// Leaves out  NUMA distance, which needs more than one socket
// Cost        about a second a sample of all
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace engineroom::validation {

/// One primitive and its time in ns, once a sample.
struct Primitive {
  std::string name;
  std::vector<double> ns;
};
using Primitives = std::vector<Primitive>;

/// Files are made in `folder` and removed. `poll` is called between the measurements and ends them by
/// throwing.
Primitives measure_primitives(std::uint64_t samples, const std::string& folder,
                              const std::function<void(std::uint64_t)>& poll);

/// The time in ns of one of `n` hand-overs each way of a word between two CPUs, both of which look at it. The hypervisor of
/// a virtual machine decides how far apart they are, and may change it. On one CPU they would wait for their slices.
double measure_line_transfer(std::uint64_t n);

/// One thread copies groups of 64 KiB into the blocks of one half of a log buffer, which is larger than a cache; another
/// fills in headers and trailers in the other half and writes it to a file in memory; then they change. What a group's copy
/// and its write take in ns, without the waits for each other: the bytes come from the other's CPU, so that this too is
/// longer when the two lie far apart.
struct CopyBesideWrite {
  double copy_ns = 0;
  double write_ns = 0;
};
CopyBesideWrite measure_copy_beside_write();

/// The system and, on a virtual machine, its host interrupt a computing thread. Two CPUs, or the only one, look at the
/// clock for so long; where it goes on by more than a microsecond something else ran there.
struct Interruptions {
  std::vector<double> ns;
  double every_ns = 0;  // computing time between two; 0: there was none
};
Interruptions measure_interruptions(std::uint64_t run_ns);

}  // namespace engineroom::validation

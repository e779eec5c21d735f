// What a session runs: transactions, each a list of statements, drawn from a mix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace engineroom::sessions {

/// Mini-transactions of one size, in a row.
struct MiniTransactions {
  std::uint32_t count = 1;
  std::size_t bytes = 100;           // of redo, each
  std::uint32_t dirty_percent = 30;  // of them make a clean page dirty
};

/// What the sources measured went up to 3,000.
constexpr std::uint32_t kMostSessions = 4096;

/// Times are means of exponential distributions.
struct Statement {
  std::uint64_t away_ns = 0;       // before it: the client and the network
  std::uint64_t computing_ns = 0;  // what no part of the engine stands for
  std::uint32_t rows = 1;          // that it reads or changes
  MiniTransactions mtrs{};
};

struct Program {
  std::uint32_t weight = 1;  // how often it is drawn, against the others of the mix
  std::vector<Statement> statements;
  MiniTransactions commit{};   // of the commit itself, behind the statements
  bool never_commits = false;  // its statements begin again: a transaction that outlasts the run
};

struct Config {
  std::uint32_t clients = 1;
  std::uint64_t transactions = 0;  // a client; 0: until the run is stopped
  std::vector<Program> mix;        // of every client
  std::vector<Program> first_mix;  // of the first client instead, unless it is empty
};

}  // namespace engineroom::sessions

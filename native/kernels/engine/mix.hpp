// A reader's own transactions as a load: of several kinds, each with a weight, statements in their order, and what each of these asks
// for and locks.
//
// Models      clients that draw the kind of their next transaction by its weight, and the rows that its statements are about by the
//             distributions that the reader named: two statements with the same draw mean the same row
// Leaves out  gaps and secondary indexes, of which nobody locks any; foreign keys; what is in the rows
// Cost        some random numbers per transaction
//
// Rows of an insertion come one behind the other, as AUTO_INCREMENT gives them, so that the last page of a table is everybody's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/described.hpp"
#include "engine/load.hpp"
#include "engine/statements.hpp"
#include "machine/random.hpp"

namespace engineroom::engine {

/// A number that a transaction draws at its beginning, from 0 on.
struct MixDraw {
  std::uint64_t rows = 1;
  Distribution distribution = Distribution::uniform;
  std::uint64_t pareto_percent = 20;
};
constexpr auto described(options::Of<MixDraw>) {
  using C = MixDraw;
  return options::list<C>(
      "a draw", {
                    options::option<&C::rows>({.least = 1, .most = 1'000'000'000}, "so many different ones"),
                    options::option<&C::distribution>("of them"),
                    options::option<&C::pareto_percent>(
                        {.least = 1, .most = 50}, "so many percent of the rows are drawn in all other cases"),
                });
}

enum class Access : std::uint8_t { computes, reads, locks, changes, inserts };
constexpr auto named(names::Of<Access>) { return names::as_written<Access::inserts>("access"); }

constexpr std::uint64_t kMostRowsOfStatement = 1000;
struct MixStatement {
  Access access = Access::reads;
  bool shared = false;
  std::uint64_t table = 0;
  std::uint64_t draw = 0;
  std::uint64_t rows = 1;
  Demand demand{};
};
constexpr auto described(options::Of<MixStatement>) {
  using C = MixStatement;
  return options::list<C>(
      "a statement of a mix",
      {
          options::option<&C::access>("what it does to its rows; reads are consistent"),
          options::option<&C::shared>("its locks are shared ones"),
          options::option<&C::table>({.most = kMostTables - 1}, "which of the mix's tables"),
          options::option<&C::draw>("which of the transaction's draws is its first row"),
          options::option<&C::rows>({.least = 1, .most = kMostRowsOfStatement},
                                    "that it locks, changes or inserts, one behind the other"),
          options::option<&C::demand, &Demand::computing_ns>("processor time of one execution, mean"),
          options::option<&C::demand, &Demand::mtrs_permille>(
              {.most = 1'000'000}, "mini-transactions with redo, of a thousand executions"),
          options::option<&C::demand, &Demand::mtr_bytes>({.least = 1, .most = kMostMtrBytes},
                                                          "redo of each of them"),
          options::option<&C::demand, &Demand::root_searches_permille>(
              {.most = 1'000'000},
              "searches from an index's root, of a thousand: counts with has_page_latches"),
          options::option<&C::demand, &Demand::hash_searches_permille>(
              {.most = 1'000'000},
              "searches in the adaptive hash index, of a thousand: counts with hash_index"),
          options::option<&C::demand, &Demand::hash_changes_permille>(
              {.most = 1'000'000}, "changes under its latch, of a thousand: counts with hash_index"),
      });
}

struct MixTransaction {
  std::uint64_t weight = 1;
  /// Whether the client sends a COMMIT: else the last statement commits by itself.
  bool sends_commit = true;
  Demand commit{};
  std::vector<MixDraw> draws;
  std::vector<MixStatement> statements;
};

/// Kinds of transactions, for Clients<M, Mix>. What it has drawn refers to it.
class Mix {
 public:
  /// Refuses a mix without a transaction that has a weight and a statement, and a statement whose draw there is not.
  explicit Mix(std::vector<MixTransaction> transactions);

  void draw(machine::Random& random, Script& script);
  std::size_t most_mtr_bytes() const;

 private:
  std::vector<MixTransaction> transactions_;
  std::vector<std::vector<RowDraw>> draws_;  // of each
  std::vector<std::uint64_t> drawn_;         // of the transaction at hand
  std::uint64_t weights_ = 0;
  std::array<std::uint64_t, kMostTables> inserted_{};
};

}  // namespace engineroom::engine

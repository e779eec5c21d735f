// The pages of an engine's rows, as statements ask for them: in a buffer pool, or all there.
//
// Models      btr_cur_search_to_nth_level and row_search_mvcc as far as they get pages: from the root to a leaf, and on to its neighbours
// Leaves out  splitting and merging; pages of secondary indexes and undo logs; building and dropping a page's part of the hash index
// Cost        without a pool none; with one its latches, three pages per search; with PageLatches one event per search from a root, and four
//             per leaf or use of the hash index
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/buffer_pool.hpp"
#include "engine/load.hpp"
#include "engine/parts.hpp"
#include "sync/latch.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::engine {

/// `is_whole` off: no pool is compiled.
template <Machine M, bool is_whole>
class Pages {
 public:
  void make_pool(M& m, const PoolConfig& config, typename BufferPool<M>::Redo redo) {
    pool_.emplace(m, config, std::move(redo));
  }
  bool has_pool() const { return is_whole && pool_; }
  BufferPool<M>* pool() { return pool_ ? &*pool_ : nullptr; }
  const BufferPool<M>* pool() const { return pool_ ? &*pool_ : nullptr; }

  /// A step's pages, used at no cost before the run.
  void warm(const Step& step) {
    const std::uint64_t rows = std::max<std::uint64_t>(step.rows, step.locks || step.inserts ? 1 : 0);
    if (rows == 0) return;
    const Path path = path_to(step.table, step.row);
    for (const std::uint64_t page : {path.root, path.node}) pool_->warm(page);
    const std::uint64_t last = place_of(step.table, step.row + rows - 1).page;
    for (std::uint64_t page = path.leaf; page <= last; ++page) pool_->warm(page);
  }

  /// From the root to a leaf that is read, and no further up than that once it is there. False: the run was stopped first.
  Task<bool> search(M& m, Table table, std::uint64_t row) {
    if (!has_pool()) co_return true;
    Frame<M>* leaf = co_await descend(m, table, row);
    if (leaf == nullptr) co_return false;
    co_await pool_->release(m, *leaf, false);
    co_return true;
  }
  /// A consistent read that says its rows: leaf by leaf, the next one latched before the last one is let go.
  Task<bool> read(M& m, const Step& step) {
    if (!has_pool() || step.rows == 0) co_return true;
    Frame<M>* leaf = co_await descend(m, step.table, step.row);
    if (leaf == nullptr) co_return false;
    const std::uint64_t last = place_of(step.table, step.row + step.rows - 1).page;
    for (std::uint64_t page = place_of(step.table, step.row).page + 1; page <= last; ++page) {
      Frame<M>* next = co_await pool_->get(m, page, false);
      co_await pool_->release(m, *leaf, false);
      if (next == nullptr) co_return false;
      leaf = next;
    }
    co_await pool_->release(m, *leaf, false);
    co_return true;
  }

 private:
  Task<Frame<M>*> descend(M& m, Table table, std::uint64_t row) {
    const Path path = path_to(table, row);
    Frame<M>* root = co_await pool_->get(m, path.root, false);
    if (root == nullptr) co_return nullptr;
    Frame<M>* node = co_await pool_->get(m, path.node, false);
    Frame<M>* leaf = nullptr;
    if (node != nullptr) leaf = co_await pool_->get(m, path.leaf, false);
    co_await pool_->release(m, *root, false);
    if (node != nullptr) co_await pool_->release(m, *node, false);
    co_return leaf;
  }

  std::optional<BufferPool<M>> pool_;
};

/// Latches on the way to pages that are all in memory. A leaf has one, and a root is lines that each search writes, since nobody waits there.
/// The adaptive hash index spares searches the root; its parts have a latch each.
template <Machine M>
class PageLatches {
 public:
  PageLatches(M& m, const EngineConfig& config, sync::SpinParams spin)
      : config_(config),
        spin_(spin),
        index_latch_(m.site("index_tree_rw_lock")),
        roots_(kLinesOfRoot * 2 * kMostTables * config.partitions) {
    if (config.hash_index == HashIndex::off) return;
    for (std::size_t i = 0; i < kPartsOfHashIndex; ++i)
      parts_.push_back(std::make_unique<sync::RwLatch<M>>(m, "btr_search_latch", spin));
  }

  bool has_hash_index() const { return !parts_.empty(); }

  /// Of SysBench's tables a statement draws one. TPC-C's rows are parted by warehouse, and a session has its own: a read does not say which
  /// row it wants.
  std::uint64_t tree_of(M& m, Table table, std::uint32_t session) const {
    const bool has_one = table == Table::warehouse || table == Table::district || table == Table::item ||
                         config_.partitions == 1;
    const std::uint64_t which = has_one ? 0 : table == Table::sbtest ? m.random() : session;
    return static_cast<std::uint64_t>(table) * config_.partitions + which % config_.partitions;
  }

  /// A search begins: the index is latched, and its root found in the page hash, fixed and latched. `is_other`: one of the indexes besides
  /// the rows' own.
  auto pass_root(M& m, std::uint64_t tree, bool is_other) {
    sync::tell_of(m, index_latch_);
    const std::uint64_t root = 2 * tree + (is_other ? 1 : 0);
    return m.touch(roots_, kLinesOfRoot * root, kLinesOfRoot, machine::Access::write);
  }
  /// False: somebody changes that part, or waits to do so.
  Task<bool> search_hash(M& m, std::uint64_t tree) {
    sync::RwLatch<M>& part = part_of(tree);
    const bool is_changed = co_await part.has_writer(m);
    if (is_changed) co_return false;
    if (config_.hash_index == HashIndex::tries) {
      sync::tell_of(m, part.site());
      const bool is_taken = co_await part.try_s(m);
      if (!is_taken) co_return false;
    } else {
      co_await part.s_lock(m);
    }
    m.work(config_.hash_search_ns);
    co_await part.s_unlock(m);
    co_return true;
  }
  Task<> change_hash(M& m, std::uint64_t tree) {
    sync::RwLatch<M>& part = part_of(tree);
    co_await part.x_lock(m);
    m.work(config_.hash_change_ns);
    co_await part.x_unlock(m);
  }
  sync::RwLatch<M>& leaf_of(M& m, const Step& step, std::uint64_t row) {
    // An insertion into history goes to its partition's last page.
    const std::uint64_t page = step.table == Table::history
                                   ? place_of(step.table, 0).page + machine::mixed(row) % config_.partitions
                                   : place_of(step.table, row).page;
    std::unique_ptr<sync::RwLatch<M>>& leaf = leaves_[page];
    if (!leaf) leaf = std::make_unique<sync::RwLatch<M>>(m, "buf_block_lock", spin_);
    return *leaf;
  }

 private:
  // The latch of the index, that of the root's cell in the page hash, its fix count, its own latch.
  static constexpr std::size_t kLinesOfRoot = 4;
  static constexpr std::size_t kPartsOfHashIndex = 8;  // innodb_adaptive_hash_index_parts

  /// As the numbers of indexes and tablespaces fold in 5.7, where tables were made one after the other; how they do in 8.0 is not known.
  sync::RwLatch<M>& part_of(std::uint64_t tree) { return *parts_[tree % parts_.size()]; }

  EngineConfig config_;
  sync::SpinParams spin_;
  machine::Site index_latch_;
  typename M::Lines roots_;
  std::vector<std::unique_ptr<sync::RwLatch<M>>> parts_;
  std::unordered_map<std::uint64_t, std::unique_ptr<sync::RwLatch<M>>> leaves_;
};

}  // namespace engineroom::engine

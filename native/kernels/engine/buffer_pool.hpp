// The buffer pool: which pages are in memory, who waits for one that is not, and which page makes room for it.
//
// Models      buf_page_get_gen, buf_LRU_get_free_block, buf_page_init_for_read, buf_page_make_young_if_needed and the page cleaners'
//             batches at the end of the LRU list (5.6 to 9.7): a hash of pages in parts under latches of their own, a list of free
//             frames, an LRU list whose older part is where pages come in. In 5.6 and 5.7 one mutex per instance guards both lists; since 8.0
//             each has its own
// Leaves out  innodb_old_blocks_time (it is 0: a page gets young at its second use), reading ahead, the adaptive hash index, compressed
//             pages, the doublewrite buffer, checkpoints: a page is written when it is about to make room
// Cost        some 8 events per page that is there; a scan of the LRU list's end, some 20 events and a wait for the disk per page that is not
//
// Latches have the names by which performance_schema knows them on 5.7.22, 8.0.15 and 9.7.4.
//
// A frame is in the free list, or in the LRU list, or its taker's, between the two. A page that is being read is in the hash already,
// x-latched until its bytes are there: whoever wants it waits at that latch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/described.hpp"
#include "common/names.hpp"
#include "common/require.hpp"
#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "redo_log/block.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::engine {

using machine::Machine;
using machine::Task;
using redo_log::Lsn;

enum class PoolLatches : std::uint8_t { one_mutex, lists };
constexpr auto named(names::Of<PoolLatches>) {
  return names::table<PoolLatches>("pool_latches",
                                   {{"5.7", PoolLatches::one_mutex}, {"8.0", PoolLatches::lists}});
}

struct PoolConfig {
  PoolLatches latches = PoolLatches::lists;
  std::uint64_t pages = 8'192;
  std::uint64_t instances = 8;
  std::uint64_t page_hash_locks = 16;
  std::uint64_t old_percent = 37;
  std::uint64_t lru_scan_depth = 1'024;
  std::uint64_t cleaners = 4;
  std::uint64_t warm_transactions = 20'000;
  std::uint64_t read_ns = 100'000;
  std::uint64_t write_ns = 50'000;
  std::uint64_t io_cpu_ns = 5'000;
  std::uint64_t queue_depth = 32;
  std::uint64_t lookup_ns = 20;
  std::uint64_t list_ns = 15;
  std::uint64_t scan_ns = 4;
};
constexpr auto described(options::Of<PoolConfig>) {
  using C = PoolConfig;
  return options::list<C>(
      "a buffer pool",
      {
          options::option<&C::latches>("of the lists: one mutex of an instance, or one per list"),
          options::option<&C::pages>({.least = 64, .most = 4'000'000},
                                     "innodb_buffer_pool_size, in pages of 16 KiB"),
          options::option<&C::instances>({.least = 1, .most = 64}, "innodb_buffer_pool_instances"),
          options::option<&C::page_hash_locks>({.least = 1, .most = 1'024},
                                               "innodb_page_hash_locks, per instance"),
          options::option<&C::old_percent>({.least = 5, .most = 95}, "innodb_old_blocks_pct"),
          options::option<&C::lru_scan_depth>({.least = 1},
                                              "innodb_lru_scan_depth: free frames that a page cleaner keeps, "
                                              "per instance"),
          options::option<&C::cleaners>({.least = 1, .most = 64}, "innodb_page_cleaners"),
          options::option<&C::warm_transactions>(
              "whose pages are used, at no cost, before the run, behind all pages once"),
          options::option<&C::read_ns>({.least = 1}, "the disk's time for a page, mean"),
          options::option<&C::write_ns>({.least = 1}, "the same for a write"),
          options::option<&C::io_cpu_ns>("system call and checksum of a page"),
          options::option<&C::queue_depth>({.least = 1, .most = 4'096},
                                           "requests that the disk serves at the same time"),
          options::option<&C::lookup_ns>("in the hash of pages"),
          options::option<&C::list_ns>("entering a list, or leaving it"),
          options::option<&C::scan_ns>("looking at a frame of the LRU list"),
      });
}

struct PoolCounts {
  std::uint64_t gets = 0;         // Innodb_buffer_pool_read_requests
  std::uint64_t misses = 0;       // of these: it had to be read, or somebody else was reading it
  std::uint64_t reads = 0;        // Innodb_buffer_pool_reads
  std::uint64_t writes = 0;       // Innodb_buffer_pool_pages_flushed
  std::uint64_t user_writes = 0;  // of these by a session that found no clean page: single-page flushes
  std::uint64_t evicted = 0;
  std::uint64_t made_young = 0;
  std::uint64_t free_waits = 0;  // Innodb_buffer_pool_wait_free
};

using PageNo = std::uint64_t;

/// What keeps the pool right, each where it is asked for, so that a test can break one at a time.
struct SoundPool {
  /// A page in use is not evicted.
  static constexpr bool spares_fixed() { return true; }
  /// A dirty page is written before it makes room.
  static constexpr bool spares_dirty() { return true; }
  /// whoever brings a page looks for it again, behind the latch that keeps others from bringing it.
  static constexpr bool looks_again() { return true; }
  /// A page is latched until it has been read.
  static constexpr bool latches_until_read() { return true; }
  /// A page is not written before the redo of its changes is durable.
  static constexpr bool log_comes_first() { return true; }
};

template <Machine M>
struct Frame {
  explicit Frame(M& m, sync::SpinParams spin) : latch(m, "buf_block_lock", spin) {}
  sync::RwLatch<M> latch;
  typename M::Word fixes;  // buf_fix_count
  PageNo page = 0;
  bool is_read = false;   // its bytes are there
  bool is_in_io = false;  // io_fix
  bool is_dirty = false;
  bool is_listed = false;  // in the LRU list
  bool is_fresh = false;   // read, and not used yet
  bool is_old = false;
  Lsn newest_lsn = 0;       // of its changes
  std::uint64_t clock = 0;  // freed_page_clock when it was made young
  typename std::list<Frame*>::iterator place;
};

/// The LRU list in two parts. Under the mutex of the list.
template <Machine M>
class LruList {
 public:
  explicit LruList(std::uint64_t old_percent) : old_percent_(old_percent) {}

  void add(Frame<M>& frame, bool is_old) {
    std::list<Frame<M>*>& part = is_old ? old_ : young_;
    // Behind the first of the old ones: that one gets young where the part is too long, not who just came.
    const auto before = is_old && !part.empty() ? std::next(part.begin()) : part.begin();
    frame.place = part.insert(before, &frame);
    frame.is_old = is_old;
    frame.is_listed = true;
    balance();
  }
  void remove(Frame<M>& frame) {
    (frame.is_old ? old_ : young_).erase(frame.place);
    frame.is_listed = false;
    balance();
  }
  std::size_t size() const { return old_.size() + young_.size(); }
  /// Calls each(frame) from the end until it returns false.
  void from_end(const auto& each) {
    for (std::list<Frame<M>*>* part : {&old_, &young_}) {
      for (auto frame = part->rbegin(); frame != part->rend(); ++frame) {
        if (!each(**frame)) return;
      }
    }
  }

 private:
  void balance() {
    const std::size_t wanted = size() * static_cast<std::size_t>(old_percent_) / 100;
    while (old_.size() > wanted) move_border(old_, old_.begin(), young_, young_.end(), false);
    while (old_.size() < wanted) move_border(young_, std::prev(young_.end()), old_, old_.begin(), true);
  }
  static void move_border(std::list<Frame<M>*>& from, typename std::list<Frame<M>*>::iterator frame,
                          std::list<Frame<M>*>& to, typename std::list<Frame<M>*>::iterator before,
                          bool is_old) {
    (*frame)->is_old = is_old;
    to.splice(before, from, frame);
  }

  std::uint64_t old_percent_;
  std::list<Frame<M>*> young_;
  std::list<Frame<M>*> old_;
};

/// The disk under the data files: requests come when the earliest of its channels is free.
template <Machine M>
class DataDisk {
 public:
  DataDisk(M& m, const PoolConfig& config)
      : free_at_(static_cast<std::size_t>(config.queue_depth)), site_(m.site("innodb_data_file")) {}

  /// So many requests at once, until the last is done. False when the run was stopped first.
  Task<bool> request(M& m, std::uint64_t mean_ns, std::size_t requests) {
    const std::uint64_t start = m.now();
    std::uint64_t done = start;
    for (std::size_t i = 0; i < requests; ++i) {
      const auto channel = std::ranges::min_element(free_at_);
      *channel = std::max(*channel, start) + machine::exponential(m.random(), mean_ns);
      done = std::max(done, *channel);
    }
    co_await m.wait_for_client(done - start);  // an interrupt, no timer
    m.waited(site_, {m.now() - start, 0, 1});
    co_return !m.stopping();
  }

 private:
  std::vector<std::uint64_t> free_at_;
  machine::Site site_;
};

template <Machine M, typename Rules = SoundPool>
class BufferPool {
 public:
  /// What a page cleaner asks of the redo log: durable up to an LSN (false: the run was stopped first), and the mutex of a flush list.
  struct Redo {
    std::function<Task<bool>(M&, Lsn)> make_durable;
    std::function<Task<>(M&)> leave_flush_list;
  };

  BufferPool(M& m, const PoolConfig& config, Redo redo, sync::SpinParams spin = {})
      : config_(config), redo_(std::move(redo)), disk_(m, config), cleaning_(m.site("page_cleaner")) {
    if (config.pages < config.instances * 8) {
      refuse("a pool of " + std::to_string(config.pages) + " pages has " + std::to_string(config.instances) +
             " instances; give each 8 pages or more");
    }
    for (std::uint64_t i = 0; i < config.instances; ++i) {
      instances_.push_back(std::make_unique<Instance>(m, config, spin));
      if (i < config.cleaners) cleaners_.push_back(std::make_unique<sync::Event<M>>(m, "buf_flush_event"));
    }
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      instances_[i]->cleaner = cleaners_[i % cleaners_.size()].get();
    }
    for (std::uint64_t i = 0; i < config.pages; ++i) {
      frames_.emplace_back(m, spin);
      instances_[static_cast<std::size_t>(i % config.instances)]->free.push_back(&frames_.back());
    }
  }

  void spawn_threads(M& m) {
    for (std::size_t i = 0; i < cleaners_.size(); ++i) {
      m.spawn("page cleaner", [this, &m, i] { return cleaner(m, i); });
    }
  }

  /// As get and release at no cost, before the run.
  void warm(PageNo page) {
    Instance& in = instance_of(page);
    Shard& shard = in.shard_of(page);
    const auto found = shard.pages.find(page);
    if (found != shard.pages.end()) {
      Frame<M>& frame = *found->second;
      if (is_too_old(in, frame)) move_to_front(in, frame);
      return;
    }
    if (in.free.empty()) warm_out(in);
    Frame<M>& frame = *in.free.back();
    in.free.pop_back();
    frame.page = page;
    frame.is_read = true;
    shard.pages[page] = &frame;
    in.lru.add(frame, true);
  }
  /// The free frames that page cleaners would have made.
  void warmed() {
    for (auto& in : instances_) {
      while (wants_free(*in)) warm_out(*in);
    }
  }

  /// The page, latched and in use until release(). nullptr: the run was stopped first.
  Task<Frame<M>*> get(M& m, PageNo page, bool exclusive) {
    Instance& in = instance_of(page);
    Shard& shard = in.shard_of(page);
    ++counts_.gets;
    bool is_miss = false;
    for (;;) {
      if (m.stopping()) co_return nullptr;
      co_await shard.latch.s_lock(m);
      m.charge(config_.lookup_ns);
      Frame<M>* frame = shard.find(page);
      if (frame != nullptr) co_await m.add(frame->fixes, 1);
      co_await shard.latch.s_unlock(m);
      if (frame == nullptr) {
        is_miss = true;
        co_await read(m, in, shard, page);
        continue;
      }
      is_miss = is_miss || !frame->is_read;
      counts_.misses += is_miss ? 1 : 0;
      if (exclusive) {
        co_await frame->latch.x_lock(m);
      } else {
        co_await frame->latch.s_lock(m);
      }
      if (!frame->is_read && Rules::latches_until_read()) {  // whoever read it was stopped
        co_await release(m, *frame, exclusive);
        co_return nullptr;
      }
      if (!frame->is_fresh && is_too_old(in, *frame)) co_await make_young(m, in, *frame);
      frame->is_fresh = false;
      co_return frame;
    }
  }
  Task<> release(M& m, Frame<M>& frame, bool exclusive) {
    if (exclusive) {
      co_await frame.latch.x_unlock(m);
    } else {
      co_await frame.latch.s_unlock(m);
    }
    co_await m.add(frame.fixes, ~std::uint64_t{0});
  }
  /// It is x-latched, and a mini-transaction that changes it has ended there.
  void changed(Frame<M>& frame, Lsn lsn) {
    frame.is_dirty = true;
    frame.newest_lsn = std::max(frame.newest_lsn, lsn);
  }

  // What a run is asked.
  const PoolCounts& counts() const { return counts_; }
  std::uint64_t dirty_pages() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(frames_, [](const Frame<M>& frame) { return frame.is_dirty; }));
  }
  /// Calls body(free frames, frames in the LRU list, pages in the hash) for each instance.
  void each_instance(const auto& body) const {
    for (const auto& in : instances_) {
      std::vector<const Frame<M>*> listed;
      const_cast<Instance&>(*in).lru.from_end([&](Frame<M>& frame) {
        listed.push_back(&frame);
        return true;
      });
      std::vector<std::pair<PageNo, const Frame<M>*>> pages;
      for (const auto& shard : in->shards)
        pages.insert(pages.end(), shard->pages.begin(), shard->pages.end());
      body(in->free, listed, pages);
    }
  }

 private:
  struct Shard {
    Shard(M& m, sync::SpinParams spin) : latch(m, "hash_table_locks", spin) {}
    Frame<M>* find(PageNo page) const {
      const auto found = pages.find(page);
      return found == pages.end() ? nullptr : found->second;
    }
    sync::RwLatch<M> latch;
    std::unordered_map<PageNo, Frame<M>*> pages;  // under the latch
  };
  struct Instance {
    Instance(M& m, const PoolConfig& config, sync::SpinParams spin)
        : lru_mutex(m,
                    config.latches == PoolLatches::one_mutex ? "buf_pool_mutex" : "buf_pool_LRU_list_mutex",
                    spin),
          lru(config.old_percent) {
      if (config.latches == PoolLatches::lists) {
        own_free_mutex = std::make_unique<sync::Latch<M>>(m, "buf_pool_free_list_mutex", spin);
      }
      for (std::uint64_t i = 0; i < config.page_hash_locks; ++i) {
        shards.push_back(std::make_unique<Shard>(m, spin));
      }
    }
    sync::Latch<M>& free_mutex() { return own_free_mutex ? *own_free_mutex : lru_mutex; }
    Shard& shard_of(PageNo page) {
      return *shards[static_cast<std::size_t>((machine::mixed(page) >> 32) % shards.size())];
    }

    sync::Latch<M> lru_mutex;
    std::unique_ptr<sync::Latch<M>> own_free_mutex;
    LruList<M> lru;               // under lru_mutex
    std::vector<Frame<M>*> free;  // under free_mutex()
    std::uint64_t clock = 0;      // evictions: freed_page_clock
    std::vector<std::unique_ptr<Shard>> shards;
    sync::Event<M>* cleaner = nullptr;  // wakes up whoever makes free frames here
  };

  /// 64 neighbours are in one instance, the next 64 in the next one.
  Instance& instance_of(PageNo page) {
    return *instances_[static_cast<std::size_t>((page >> 6) % instances_.size())];
  }

  /// Not in the younger three quarters of the young part, as far as evictions since it came there tell; while nothing is evicted, no
  /// page is.
  bool is_too_old(const Instance& in, const Frame<M>& frame) const {
    if (in.clock == 0 || !frame.is_listed) return false;
    return frame.is_old || in.clock > frame.clock + in.lru.size() * (100 - config_.old_percent) / 400;
  }
  static void move_to_front(Instance& in, Frame<M>& frame) {
    in.lru.remove(frame);
    in.lru.add(frame, false);
    frame.clock = in.clock;
  }
  Task<> make_young(M& m, Instance& in, Frame<M>& frame) {
    co_await in.lru_mutex.lock(m);
    m.charge(2 * config_.list_ns);
    if (frame.is_listed) move_to_front(in, frame);
    ++counts_.made_young;
    co_await in.lru_mutex.unlock(m);
  }

  void warm_out(Instance& in) {
    Frame<M>* last = nullptr;
    in.lru.from_end([&](Frame<M>& frame) {
      last = &frame;
      return false;
    });
    forget(in, *last);
    in.free.push_back(last);
  }
  void forget(Instance& in, Frame<M>& frame) {
    in.shard_of(frame.page).pages.erase(frame.page);
    in.lru.remove(frame);
    frame.is_read = false;
    frame.is_dirty = false;
    frame.newest_lsn = 0;
    ++in.clock;
  }

  /// Brings the page in, unless somebody else has done so in the meantime.
  Task<> read(M& m, Instance& in, Shard& shard, PageNo page) {
    Frame<M>* frame = co_await take_free(m, in);
    if (frame == nullptr) co_return;
    co_await in.lru_mutex.lock(m);
    co_await shard.latch.x_lock(m);
    const bool is_there = Rules::looks_again() && shard.find(page) != nullptr;
    if (!is_there) {
      frame->page = page;
      frame->is_in_io = true;
      frame->is_fresh = true;
      if (Rules::latches_until_read()) co_await frame->latch.x_lock(m);
      shard.pages[page] = frame;
    }
    co_await shard.latch.x_unlock(m);
    if (!is_there) in.lru.add(*frame, true);
    m.charge(config_.list_ns);
    co_await in.lru_mutex.unlock(m);
    if (is_there) {
      co_await give_back(m, in, *frame);
      co_return;
    }
    m.work(config_.io_cpu_ns);
    ++counts_.reads;
    const bool is_done = co_await disk_.request(m, config_.read_ns, 1);
    frame->is_read = is_done;
    frame->is_in_io = false;
    if (Rules::latches_until_read()) co_await frame->latch.x_unlock(m);
  }

  /// A frame that is in no list. nullptr: the run was stopped first.
  Task<Frame<M>*> take_free(M& m, Instance& in) {
    for (std::uint64_t tries = 0;; ++tries) {
      if (m.stopping()) co_return nullptr;
      co_await in.free_mutex().lock(m);
      Frame<M>* frame = in.free.empty() ? nullptr : in.free.back();
      if (frame != nullptr) in.free.pop_back();
      m.charge(config_.list_ns);
      co_await in.free_mutex().unlock(m);
      if (frame != nullptr) co_return frame;
      // The end of the list first, then all of it; then a page is written here.
      constexpr std::size_t kSearchDepth = 100;
      const bool is_made = co_await evict_one(m, in, tries == 0 ? kSearchDepth : SIZE_MAX);
      if (is_made) continue;
      co_await in.cleaner->set(m);
      if (tries == 0) continue;
      ++counts_.free_waits;
      constexpr std::uint64_t kPauseNs = 10'000'000;
      if (tries > 1) co_await m.sleep(kPauseNs);
      counts_.user_writes += co_await write_from_end(m, in, 1);
    }
  }
  Task<> give_back(M& m, Instance& in, Frame<M>& frame) {
    co_await in.free_mutex().lock(m);
    m.charge(config_.list_ns);
    in.free.push_back(&frame);
    co_await in.free_mutex().unlock(m);
  }

  /// False: among so many frames from the end none is clean and unused.
  Task<bool> evict_one(M& m, Instance& in, std::size_t depth) {
    co_await in.lru_mutex.lock(m);
    const std::vector<Frame<M>*> clean = from_end(m, in, depth, 1, false);
    bool is_evicted = false;
    if (!clean.empty()) is_evicted = co_await evict(m, in, *clean.front());
    co_await in.lru_mutex.unlock(m);
    co_return is_evicted;
  }
  /// Up to `most` frames that are not in use, clean ones or those to be written, of the last so many. The mutex of the list is held.
  std::vector<Frame<M>*> from_end(M& m, Instance& in, std::size_t depth, std::size_t most, bool dirty) {
    std::vector<Frame<M>*> found;
    std::size_t looked = 0;
    in.lru.from_end([&](Frame<M>& frame) {
      if (looked == depth || found.size() == most) return false;
      ++looked;
      const bool is_used = m.peek(frame.fixes) != 0 && (Rules::spares_fixed() || dirty);
      const bool is_dirty = frame.is_dirty && Rules::spares_dirty();
      if (!frame.is_in_io && !is_used && is_dirty == dirty) found.push_back(&frame);
      return true;
    });
    m.charge(looked * config_.scan_ns);
    return found;
  }
  /// Its mutex held: out of the hash, where nobody can have begun to use it then, and onto the free list.
  Task<bool> evict(M& m, Instance& in, Frame<M>& frame) {
    Shard& shard = in.shard_of(frame.page);
    co_await shard.latch.x_lock(m);
    const std::uint64_t fixes = co_await m.load(frame.fixes);
    const bool is_free = (fixes == 0 || !Rules::spares_fixed()) && !frame.is_in_io &&
                         (!frame.is_dirty || !Rules::spares_dirty());
    if (is_free) forget(in, frame);
    m.charge(config_.list_ns);
    co_await shard.latch.x_unlock(m);
    if (!is_free) co_return false;
    ++counts_.evicted;
    if (in.own_free_mutex) {
      co_await give_back(m, in, frame);
    } else {
      in.free.push_back(&frame);
    }
    co_return true;
  }

  bool wants_free(const Instance& in) const {
    // buf_flush_LRU_list_batch leaves so many pages alone.
    const std::size_t least =
        std::min<std::size_t>(256, static_cast<std::size_t>(config_.pages / config_.instances) / 2);
    return in.free.size() < config_.lru_scan_depth && in.lru.size() > least;
  }

  /// Every cleaners_.size()th instance is its own.
  Task<> cleaner(M& m, std::size_t first) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    while (!m.stopping()) {
      const std::uint64_t seen = co_await cleaners_[first]->reset(m);
      for (std::size_t i = first; i < instances_.size(); i += cleaners_.size()) {
        machine::Scope<M> doing(m, cleaning_);
        co_await clean(m, *instances_[i]);
      }
      co_await cleaners_[first]->wait(m, seen, kSecond);
    }
  }
  /// Makes free frames: clean pages at the end of the list make room at once, dirty ones are written first.
  Task<> clean(M& m, Instance& in) {
    for (bool has_more = true; has_more && wants_free(in) && !m.stopping();) {
      has_more = co_await evict_one(m, in, static_cast<std::size_t>(config_.lru_scan_depth));
    }
    constexpr std::size_t kBatch = 128;
    while (wants_free(in) && !m.stopping()) {
      const std::uint64_t written = co_await write_from_end(m, in, kBatch);
      if (written == 0) co_return;
    }
  }
  /// Writes up to so many dirty pages of the list's end together; they make room then, unless they are in use again.
  Task<std::uint64_t> write_from_end(M& m, Instance& in, std::size_t most) {
    co_await in.lru_mutex.lock(m);
    const auto depth = static_cast<std::size_t>(config_.lru_scan_depth);
    const std::vector<Frame<M>*> dirty = from_end(m, in, std::max(depth, most), most, true);
    std::vector<Frame<M>*> writing;
    std::vector<PageNo> pages;
    Lsn lsn = 0;
    for (Frame<M>* frame : dirty) {
      // Readers go on, who wants to change it waits.
      const bool is_latched = co_await frame->latch.try_s(m);
      if (!is_latched) continue;
      frame->is_in_io = true;
      lsn = std::max(lsn, frame->newest_lsn);
      writing.push_back(frame);
      pages.push_back(frame->page);
    }
    co_await in.lru_mutex.unlock(m);
    if (writing.empty()) co_return 0;
    bool is_done = true;
    if (Rules::log_comes_first()) is_done = co_await redo_.make_durable(m, lsn);
    m.work(writing.size() * config_.io_cpu_ns);
    if (is_done) is_done = co_await disk_.request(m, config_.write_ns, writing.size());
    for (Frame<M>* frame : writing) {
      if (is_done) co_await redo_.leave_flush_list(m);
      if (is_done) frame->is_dirty = false;
      frame->is_in_io = false;
      co_await frame->latch.s_unlock(m);
    }
    if (!is_done) co_return 0;
    counts_.writes += writing.size();
    for (std::size_t i = 0; i < writing.size(); ++i) {
      co_await in.lru_mutex.lock(m);
      // Others may have made room of it, and read another page.
      const bool is_still_there = writing[i]->is_listed && writing[i]->page == pages[i];
      if (is_still_there) co_await evict(m, in, *writing[i]);
      co_await in.lru_mutex.unlock(m);
    }
    co_return writing.size();
  }

  PoolConfig config_;
  Redo redo_;
  DataDisk<M> disk_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<std::unique_ptr<sync::Event<M>>> cleaners_;
  std::deque<Frame<M>> frames_;
  PoolCounts counts_;
  machine::Site cleaning_;
};

}  // namespace engineroom::engine

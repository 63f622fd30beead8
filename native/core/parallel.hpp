// Work split into blocks that do not depend on the number of threads. Each block is owned by one thread, so the results
// are bit-identical for 1 or 64 of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/thread_pool.hpp"

namespace lowdim {

// Checked between blocks. Only the calling thread polls (it may be the only one allowed to, because of the GIL); the others
// read the flag.
class Stop {
  public:
    using Poll = bool (*)(void*);

    Stop() = default;
    Stop(Poll poll, void* context) : poll_(poll), context_(context) {}

    bool requested() const { return flag_.load(std::memory_order_relaxed); }

    void poll() {
        if (poll_ == nullptr || requested()) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        if (poll_(context_)) flag_.store(true, std::memory_order_relaxed);
    }

  private:
    Poll poll_ = nullptr;
    void* context_ = nullptr;
    std::atomic<bool> flag_{false};
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The number of threads that share a pass, and the flag that stops them.
struct ThreadTeam {
    int threads;
    Stop* stop;
    bool stopped() const { return stop->requested(); }
};

// Calls body(block) for every block in [0, blocks). A block must not write what another block reads.
template <class Body>
void parallel_blocks(std::int64_t blocks, const ThreadTeam& team, const Body& body) {
    std::atomic<std::int64_t> next{0};
    run_on_threads(static_cast<int>(std::clamp<std::int64_t>(blocks, 1, std::max(team.threads, 1))), [&](int thread) {
        for (std::int64_t block; !team.stopped() && (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
            if (thread == 0) team.stop->poll();
            body(block);
        }
    });
}

inline std::int64_t block_count(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

// Calls body(begin, end) for [0, n) in blocks of `size`.
template <class Body>
void parallel_ranges(std::int64_t n, std::int64_t size, const ThreadTeam& team, const Body& body) {
    parallel_blocks(block_count(n, size), team, [&](std::int64_t block) { body(block * size, std::min(n, (block + 1) * size)); });
}

}  // namespace lowdim

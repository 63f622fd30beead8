// Work split into blocks that are the same whatever the number of threads: a block is owned by one
// thread, so results have the same bits for 1 or 64 of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lowdim {

inline int hardware_threads() {
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

inline bool has_openmp() {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

// Which of the threads of a parallel region this is: for scratch memory, never for results.
inline int thread_index() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// Asked for between blocks. Only the calling thread polls the outside world (it may hold the only
// right to); the others read the flag.
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

// body(block) for block in [0, blocks). Blocks must not write what another block reads.
template <class Body>
void parallel_blocks(std::int64_t blocks, int threads, Stop& stop, const Body& body) {
#ifdef _OPENMP
    if (threads > 1 && blocks > 1) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (std::int64_t block = 0; block < blocks; ++block) {
            if (omp_get_thread_num() == 0) stop.poll();
            if (!stop.requested()) body(block);
        }
        return;
    }
#else
    (void)threads;
#endif
    for (std::int64_t block = 0; block < blocks && !stop.requested(); ++block) {
        stop.poll();
        body(block);
    }
}

}  // namespace lowdim

// Many short rounds of work with a barrier after each.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "core/parallel.hpp"

namespace lowdim {

// A barrier whose threads spin for a while before they sleep: a round may take ten microseconds, and waking a thread several times
// that. The last thread to arrive runs last() before the others go on.
class SpinBarrier {
  public:
    explicit SpinBarrier(int threads) : threads_(threads) {}

    template <class Last>
    void arrive_and_wait(const Last& last) {
        const int phase = phase_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            last();
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(phase + 1, std::memory_order_release);
            phase_.notify_all();
            return;
        }
        for (int spin = 0; spin < most_spins; ++spin) {
            if (phase_.load(std::memory_order_acquire) != phase) return;
            pause();
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

  private:
    static constexpr int most_spins = 4000;  // some tens of microseconds

    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    const int threads_;
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<int> phase_{0};
};

// Rounds of work(task, thread) for task in [0, tasks of the round). Between two rounds, when all threads have reached the
// barrier, next() prepares the following round and returns its number of tasks; 0 ends the loop.
template <class Work, class Next>
void run_rounds(const ThreadTeam& team, const Work& work, const Next& next) {
    std::atomic<std::int64_t> next_task{0};
    std::int64_t tasks = next();
    const auto advance = [&]() noexcept {
        next_task.store(0, std::memory_order_relaxed);
        tasks = team.stopped() ? 0 : next();
    };
    SpinBarrier barrier(team.threads);
    run_on_threads(team.threads, [&](int thread) {
        while (tasks > 0) {
            for (std::int64_t task; !team.stopped() && (task = next_task.fetch_add(1, std::memory_order_relaxed)) < tasks;)
                work(task, thread);
            if (thread == 0) team.stop->poll();
            barrier.arrive_and_wait(advance);
        }
    });
}

}  // namespace lowdim

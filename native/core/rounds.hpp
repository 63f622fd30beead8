// Many short rounds of work with a barrier after each.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>

#include "core/parallel.hpp"

namespace lowdim {

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
    std::barrier barrier(team.threads, advance);
    run_on_threads(team.threads, [&](int thread) {
        while (tasks > 0) {
            for (std::int64_t task; !team.stopped() && (task = next_task.fetch_add(1, std::memory_order_relaxed)) < tasks;)
                work(task, thread);
            if (thread == 0) team.stop->poll();
            barrier.arrive_and_wait();
        }
    });
}

}  // namespace lowdim

// Threads that meet after every round of many short ones.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>

#include "core/parallel.hpp"

namespace lowdim {

// Rounds of work(task, thread) for task in [0, tasks of the round). Between two rounds, when all threads have come
// home, next() prepares the following one and returns its number of tasks; 0 ends it.
template <class Work, class Next>
void run_rounds(const Crew& crew, const Work& work, const Next& next) {
    std::atomic<std::int64_t> taken{0};
    std::int64_t tasks = next();
    const auto advance = [&]() noexcept {
        taken.store(0, std::memory_order_relaxed);
        tasks = crew.stopped() ? 0 : next();
    };
    std::barrier meeting(crew.threads, advance);
    at_the_same_time(crew.threads, [&](int thread) {
        while (tasks > 0) {
            for (std::int64_t task; !crew.stopped() && (task = taken.fetch_add(1, std::memory_order_relaxed)) < tasks;) work(task, thread);
            if (thread == 0) crew.stop->poll();
            meeting.arrive_and_wait();
        }
    });
}

}  // namespace lowdim

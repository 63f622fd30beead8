// The threads of the module: they are made once, and sleep when there is nothing to do.
// OpenMP's threads spin between two pieces of work and so take the processor from whoever has work (SciPy's
// transforms, another program), and they are lost in a forked process, which then waits for them for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace lowdim {

inline int& own_index() {
    static thread_local int index = 0;
    return index;
}

// Which of the threads of a team this is: for scratch memory, never for results.
inline int thread_index() { return own_index(); }

// For as long as it lives, this thread is number `index`.
class Numbered {
  public:
    explicit Numbered(int index) : before_(own_index()) { own_index() = index; }
    ~Numbered() { own_index() = before_; }
    Numbered(const Numbered&) = delete;
    Numbered& operator=(const Numbered&) = delete;

  private:
    int before_;
};

class ThreadPool {
  public:
    using Call = void (*)(void*, int);

    // call(context, index) for index in [0, threads), all at the same time, index 0 on the calling thread.
    // What one of them throws is thrown here, when all have ended.
    static void run(int threads, Call call, void* context) {
        Team team{call, context, {}, {}};
        ThreadPool& pool = current();
        if (pool.taken_.exchange(true, std::memory_order_acquire)) {
            run_on_new_threads(threads, team);  // another thread has the pool, or this one does
        } else {
            struct Release {
                std::atomic<bool>& taken;
                ~Release() { taken.store(false, std::memory_order_release); }
            } release{pool.taken_};
            pool.run_here(threads, team);
        }
        if (team.failure) std::rethrow_exception(team.failure);
    }

  private:
    struct Team {
        Call call;
        void* context;
        std::mutex mutex;
        std::exception_ptr failure;

        void work(int index) noexcept {
            const Numbered numbered(index);
            try {
                call(context, index);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        }
    };

    struct alignas(64) Worker {
        std::atomic<std::uint32_t> turn{0};
        Team* team = nullptr;
        int index = 0;
    };

    static constexpr int patience = 1000;  // looks before falling asleep: some 50 microseconds

    static void pause() {
#if defined(__x86_64__) || defined(_M_X64)
        _mm_pause();
#else
        std::this_thread::yield();
#endif
    }

    // Returns when the value is no longer `old`.
    template <class T>
    static void await_change(const std::atomic<T>& value, T old) {
        for (int look = 0; look < patience; ++look) {
            if (value.load(std::memory_order_acquire) != old) return;
            pause();
        }
        while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
    }

    void live(Worker& worker) {
        for (std::uint32_t seen = 0;; ++seen) {
            await_change(worker.turn, seen);
            worker.team->work(worker.index);
            if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
        }
    }

    void run_here(int threads, Team& team) {
        const auto others = static_cast<std::size_t>(threads - 1);
        while (workers_.size() < others) hire();
        left_.store(threads - 1, std::memory_order_relaxed);
        for (std::size_t i = 0; i < others; ++i) {
            workers_[i].team = &team;
            workers_[i].index = static_cast<int>(i) + 1;
            workers_[i].turn.fetch_add(1, std::memory_order_release);
            workers_[i].turn.notify_one();
        }
        team.work(0);
        for (std::int32_t left; (left = left_.load(std::memory_order_acquire)) > 0;) await_change(left_, left);
    }

    void hire() {
        Worker& worker = workers_.emplace_back();
        try {
            std::thread([this, &worker] { live(worker); }).detach();
        } catch (...) {  // the system gives no more threads
            workers_.pop_back();
            throw;
        }
    }

    static void run_on_new_threads(int threads, Team& team) {
        enum Gate { shut, opened, given_up };
        std::atomic<Gate> gate{shut};  // none begins before all are there, for they may wait for one another
        std::vector<std::thread> others;
        const auto end = [&](Gate how) {
            gate.store(how, std::memory_order_release);
            gate.notify_all();
            if (how == opened) team.work(0);
            for (std::thread& other : others) other.join();
        };
        try {
            for (int index = 1; index < threads; ++index)
                others.emplace_back([&team, &gate, index] {
                    gate.wait(shut, std::memory_order_acquire);
                    if (gate.load(std::memory_order_acquire) == opened) team.work(index);
                });
        } catch (...) {  // the system gives no more threads
            end(given_up);
            throw;
        }
        end(opened);
    }

    // Never destroyed: its threads sleep until the process ends. A forked process has none of them and gets a new pool.
    static ThreadPool& current() {
        static std::atomic<ThreadPool*> pool = [] {
#ifndef _WIN32
            pthread_atfork(nullptr, nullptr, [] { renew(); });
#endif
            return new ThreadPool;
        }();
        if (renewed().load(std::memory_order_acquire)) {  // cleared last: whoever sees it cleared sees the new pool
            pool.store(new ThreadPool, std::memory_order_release);
            renewed().store(false, std::memory_order_release);
        }
        return *pool.load(std::memory_order_acquire);
    }

    static std::atomic<bool>& renewed() {
        static std::atomic<bool> flag{false};
        return flag;
    }

    static void renew() { renewed().store(true, std::memory_order_relaxed); }

    std::deque<Worker> workers_;  // grows without moving any
    std::atomic<std::int32_t> left_{0};  // workers of the team that have not ended
    std::atomic<bool> taken_{false};
};

// job(index) for index in [0, threads), all at the same time.
template <class Job>
void at_the_same_time(int threads, const Job& job) {
    if (threads <= 1) {
        const Numbered numbered(0);
        job(0);
        return;
    }
    ThreadPool::run(
        threads, [](void* context, int index) { (*static_cast<const Job*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&job)));
}

}  // namespace lowdim

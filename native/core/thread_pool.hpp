// The module's thread pool: threads are created once and sleep when idle.
// OpenMP's threads spin between two parallel regions, which takes the processor from whoever has work (SciPy's FFT, another
// program). They are also lost in a forked process, which then waits for them forever.
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

inline int& current_index() {
    static thread_local int index = 0;
    return index;
}

// The index of this thread in its team: for scratch memory, never for results.
inline int thread_index() { return current_index(); }

// Gives this thread the number `index` for the lifetime of the object.
class ScopedThreadIndex {
  public:
    explicit ScopedThreadIndex(int index) : previous_(current_index()) { current_index() = index; }
    ~ScopedThreadIndex() { current_index() = previous_; }
    ScopedThreadIndex(const ScopedThreadIndex&) = delete;
    ScopedThreadIndex& operator=(const ScopedThreadIndex&) = delete;

  private:
    int previous_;
};

class ThreadPool {
  public:
    using Call = void (*)(void*, int);

    // Calls call(context, index) for index in [0, threads) concurrently, index 0 on the calling thread. The first exception is
    // rethrown here after all calls have ended.
    static void run(int threads, Call call, void* context) {
        Job job{call, context, {}, {}};
        ThreadPool& pool = current();
        if (pool.busy_.exchange(true, std::memory_order_acquire)) {
            run_on_new_threads(threads, job);  // the pool is busy: with another thread's job, or with the one that called us
        } else {
            struct Release {
                std::atomic<bool>& busy;
                ~Release() { busy.store(false, std::memory_order_release); }
            } release{pool.busy_};
            pool.run_on_pool(threads, job);
        }
        if (job.failure) std::rethrow_exception(job.failure);
    }

  private:
    struct Job {
        Call call;
        void* context;
        std::mutex mutex;
        std::exception_ptr failure;

        void work(int index) noexcept {
            const ScopedThreadIndex scope(index);
            try {
                call(context, index);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        }
    };

    struct alignas(64) Worker {
        std::atomic<std::uint32_t> generation{0};
        Job* job = nullptr;
        int index = 0;
    };

    static constexpr int spin_limit = 1000;  // polls before sleeping, about 50 microseconds

    static void pause() {
#if defined(__x86_64__) || defined(_M_X64)
        _mm_pause();
#else
        std::this_thread::yield();
#endif
    }

    // Returns when the value is no longer `old`: spins for a while, then sleeps.
    template <class T>
    static void await_change(const std::atomic<T>& value, T old) {
        for (int look = 0; look < spin_limit; ++look) {
            if (value.load(std::memory_order_acquire) != old) return;
            pause();
        }
        while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
    }

    void worker_loop(Worker& worker) {
        for (std::uint32_t seen = 0;; ++seen) {
            await_change(worker.generation, seen);
            worker.job->work(worker.index);
            if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
        }
    }

    void run_on_pool(int threads, Job& job) {
        const auto helpers = static_cast<std::size_t>(threads - 1);
        while (workers_.size() < helpers) add_worker();
        pending_.store(threads - 1, std::memory_order_relaxed);
        for (std::size_t i = 0; i < helpers; ++i) {
            workers_[i].job = &job;
            workers_[i].index = static_cast<int>(i) + 1;
            workers_[i].generation.fetch_add(1, std::memory_order_release);
            workers_[i].generation.notify_one();
        }
        job.work(0);
        for (std::int32_t pending; (pending = pending_.load(std::memory_order_acquire)) > 0;) await_change(pending_, pending);
    }

    void add_worker() {
        Worker& worker = workers_.emplace_back();
        try {
            std::thread([this, &worker] { worker_loop(worker); }).detach();
        } catch (...) {  // the system provides no more threads
            workers_.pop_back();
            throw;
        }
    }

    static void run_on_new_threads(int threads, Job& job) {
        enum Gate { closed, open, cancelled };
        std::atomic<Gate> gate{closed};  // no thread starts before all exist, because they may wait for one another
        std::vector<std::thread> helpers;
        const auto end = [&](Gate how) {
            gate.store(how, std::memory_order_release);
            gate.notify_all();
            if (how == open) job.work(0);
            for (std::thread& other : helpers) other.join();
        };
        try {
            for (int index = 1; index < threads; ++index)
                helpers.emplace_back([&job, &gate, index] {
                    gate.wait(closed, std::memory_order_acquire);
                    if (gate.load(std::memory_order_acquire) == open) job.work(index);
                });
        } catch (...) {  // the system provides no more threads
            end(cancelled);
            throw;
        }
        end(open);
    }

    // Never destroyed: its threads sleep until the process ends. A forked process has none of them and gets a new pool.
    static ThreadPool& current() {
        static std::atomic<ThreadPool*> pool = [] {
#ifndef _WIN32
            pthread_atfork(nullptr, nullptr, [] { mark_forked(); });
#endif
            return new ThreadPool;
        }();
        if (forked().load(std::memory_order_acquire)) {  // cleared last: a thread that sees it cleared also sees the new pool
            pool.store(new ThreadPool, std::memory_order_release);
            forked().store(false, std::memory_order_release);
        }
        return *pool.load(std::memory_order_acquire);
    }

    static std::atomic<bool>& forked() {
        static std::atomic<bool> flag{false};
        return flag;
    }

    static void mark_forked() { forked().store(true, std::memory_order_relaxed); }

    std::deque<Worker> workers_;            // a deque grows without moving its elements
    std::atomic<std::int32_t> pending_{0};  // workers that have not finished the current job
    std::atomic<bool> busy_{false};
};

// Calls job(index) for index in [0, threads) concurrently.
template <class Job>
void run_on_threads(int threads, const Job& job) {
    if (threads <= 1) {
        const ScopedThreadIndex scope(0);
        job(0);
        return;
    }
    ThreadPool::run(
        threads, [](void* context, int index) { (*static_cast<const Job*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&job)));
}

}  // namespace lowdim

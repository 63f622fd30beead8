// Memory for large arrays that loops read at random: on huge pages where the system has them, and not initialized.
// NumPy asks for huge pages too; without them, t-SNE's gradient spends a tenth of its time on address translation.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace lowdim {

template <class T>
struct HugePageAllocator {
    using value_type = T;

    static constexpr std::size_t page = std::size_t{2} << 20;

    HugePageAllocator() = default;
    template <class U>
    HugePageAllocator(const HugePageAllocator<U>&) {}

    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = n * sizeof(T);
        void* memory = ::operator new(bytes, alignment(n));
#ifdef __linux__
        if (bytes >= 2 * page) madvise(memory, bytes, MADV_HUGEPAGE);  // advice only: whether it is taken does not matter
#endif
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t n) noexcept { ::operator delete(memory, alignment(n)); }

    // Elements without a value stay uninitialized: whoever makes such a vector writes every element.
    template <class U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }

    friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }

  private:
    static std::align_val_t alignment(std::size_t n) { return std::align_val_t{n * sizeof(T) >= 2 * page ? page : std::size_t{64}}; }
};

template <class T>
using LargeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace lowdim

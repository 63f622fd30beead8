#include <algorithm>

#include "binding.hpp"
#include "random.hpp"

namespace {

template <class T>
void fill_normal(const Vector<T>& out, std::uint64_t seed, std::uint64_t stream, int threads) {
    constexpr std::int64_t block = 1 << 14;  // even: a draw makes two
    const auto n = static_cast<std::int64_t>(out.shape(0));
    T* data = out.data();
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(n, block, crew, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; i += 2) {
                const auto pair = lowdim::normal_pair(lowdim::draw(seed, stream, static_cast<std::uint64_t>(i / 2)));
                data[i] = static_cast<T>(pair[0]);
                if (i + 1 < end) data[i + 1] = static_cast<T>(pair[1]);
            }
        });
    });
}

void fill_words(const Vector<std::uint32_t>& out, std::uint64_t seed, std::uint64_t stream) {
    require(out.shape(0) % 4 == 0, "out must hold whole draws of four words");
    for (std::size_t i = 0; i < out.shape(0); i += 4) {
        const auto words = lowdim::draw(seed, stream, i / 4);
        std::copy(words.begin(), words.end(), out.data() + i);
    }
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("fill_normal", &fill_normal<T>, "out"_a.noconvert(), "seed"_a, "stream"_a, "threads"_a,
          "Standard normals, each a pure function of (seed, stream, position).");
}

}  // namespace

void bind_random(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def("fill_words", &fill_words, "out"_a.noconvert(), "seed"_a, "stream"_a, "Raw Philox 4x32-10 words.");
}

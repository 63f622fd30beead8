#include <algorithm>

#include "bindings/run.hpp"
#include "core/philox.hpp"
#include "core/row_hash.hpp"

namespace {

constexpr std::int64_t rows_per_block = 256;

template <class T>
void fill_normal(const Vector<T>& out, std::uint64_t seed, std::uint64_t stream, int threads) {
    constexpr std::int64_t block = 1 << 14;  // even, because a draw yields two
    const auto n = static_cast<std::int64_t>(out.shape(0));
    T* data = out.data();
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(n, block, team, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; i += 2) {
                const auto pair = lowdim::normal_pair(lowdim::draw(seed, stream, static_cast<std::uint64_t>(i / 2)));
                data[i] = static_cast<T>(pair[0]);
                if (i + 1 < end) data[i + 1] = static_cast<T>(pair[1]);
            }
        });
    });
}

void fill_words(const Vector<std::uint32_t>& out, std::uint64_t seed, std::uint64_t stream) {
    require(out.shape(0) % 4 == 0, "the length of out must be a multiple of four words");
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

template <class T>
void hash_rows(const Dense<const T>& x, const Vector<std::uint64_t>& out, int threads) {
    require(out.shape(0) == x.shape(0), "out must have one entry per row");
    const auto d = static_cast<std::int64_t>(x.shape(1));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(x.shape(0)), rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) out.data()[i] = lowdim::row_hash(x.data() + i * d, d);
        });
    });
}

template <class T, class I>
void hash_sparse_rows(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                      const Vector<std::uint64_t>& out, int threads) {
    require(columns.shape(0) == values.shape(0), "not compressed sparse rows: every column needs a value");
    require_starts(starts, out.shape(0), values.shape(0));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(out.shape(0)), rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto first = static_cast<std::int64_t>(starts.data()[i]), last = static_cast<std::int64_t>(starts.data()[i + 1]);
                out.data()[i] = lowdim::row_hash(columns.data() + first, values.data() + first, last - first);
            }
        });
    });
}

template <class T, class I>
void bind_sparse_hashes(nb::module_& m) {
    m.def("hash_sparse_rows", &hash_sparse_rows<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "The hashes that these compressed sparse rows would have as dense ones.");
}

}  // namespace

void bind_core(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def("fill_words", &fill_words, "out"_a.noconvert(), "seed"_a, "stream"_a, "Raw Philox 4x32-10 words.");
    m.def("hash_rows", &hash_rows<float>, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "A 64-bit hash of every row's values.");
    m.def("hash_rows", &hash_rows<double>, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "A 64-bit hash of every row's values.");
    bind_sparse_hashes<float, std::int32_t>(m);
    bind_sparse_hashes<double, std::int32_t>(m);
    bind_sparse_hashes<float, std::int64_t>(m);
    bind_sparse_hashes<double, std::int64_t>(m);
}

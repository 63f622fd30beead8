// The only file that knows Python: it checks shapes, releases the GIL and calls the kernels.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include "descent.hpp"
#include "kernels.hpp"
#include "neighbors.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Dense = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

template <class T>
lowdim::RowBlock<T> rows_of(const Matrix<T>& x) {
    require(x.shape(1) <= 1 || x.stride(1) == 1, "the values of a row must lie next to each other");
    return {x.data(), static_cast<std::int64_t>(x.shape(0)), static_cast<std::int64_t>(x.shape(1)), x.stride(0)};
}

template <class T>
T* data_or_null(std::optional<Vector<T>>& v, std::size_t length, const char* message) {
    if (!v) return nullptr;
    require(v->shape(0) == length, message);
    return v->data();
}

// A class code outside the table would write outside it.
void require_codes(const std::int32_t* codes, std::size_t n, std::size_t classes) {
    if (codes == nullptr) return;
    for (std::size_t i = 0; i < n; ++i)
        require(codes[i] >= 0 && static_cast<std::size_t>(codes[i]) < classes, "a class code is out of range");
}

template <class T>
bool column_sums(const Matrix<T>& x, std::optional<Vector<const std::int32_t>> codes,
                 std::optional<Vector<const double>> weights, const Dense<double>& sums) {
    require(sums.shape(1) == x.shape(1), "sums must have a column for every column of x");
    const auto block = rows_of(x);
    const auto* code = data_or_null(codes, x.shape(0), "codes must have one entry a row");
    const auto* weight = data_or_null(weights, x.shape(0), "weights must have one entry a row");
    const auto classes = static_cast<std::int64_t>(sums.shape(0));
    require_codes(code, x.shape(0), sums.shape(0));
    nb::gil_scoped_release free;
    return lowdim::kernels().moments<T>().column_sums(block, code, weight, sums.data(), classes);
}

template <class T>
bool center(const Matrix<T>& x, const Dense<const double>& means, const Dense<T>& out,
            std::optional<Vector<const std::int32_t>> codes, std::optional<Vector<const double>> scale,
            std::optional<Vector<const double>> root_weights) {
    require(means.shape(1) == x.shape(1) && means.shape(0) >= 1, "means must have a column for every column of x");
    require(out.shape(0) == x.shape(0) && out.shape(1) == x.shape(1), "out must have the shape of x");
    const auto block = rows_of(x);
    const auto* code = data_or_null(codes, x.shape(0), "codes must have one entry a row");
    const auto* factor = data_or_null(scale, x.shape(1), "scale must have one entry a column");
    const auto* root = data_or_null(root_weights, x.shape(0), "root_weights must have one entry a row");
    require_codes(code, x.shape(0), means.shape(0));
    nb::gil_scoped_release free;
    return lowdim::kernels().moments<T>().center(block, code, means.data(), factor, root, out.data());
}

template <class T>
bool shift_rows(const Matrix<T>& x, const Vector<const T>& shift, const Dense<T>& out, const Vector<double>& sums) {
    require(shift.shape(0) == x.shape(1) && sums.shape(0) == x.shape(1), "shift and sums must have one entry a column");
    require(out.shape(0) == x.shape(0) && out.shape(1) == x.shape(1), "out must have the shape of x");
    const auto block = rows_of(x);
    nb::gil_scoped_release free;
    return lowdim::kernels().moments<T>().shift_rows(block, shift.data(), out.data(), sums.data());
}

template <class T>
void subtract_outer(const Dense<T>& part, const Vector<const double>& v, double factor) {
    const auto d = static_cast<std::int64_t>(part.shape(0));
    require(part.shape(0) == part.shape(1) && v.shape(0) == part.shape(0), "part must be square and v as long");
    nb::gil_scoped_release free;
    lowdim::kernels().moments<T>().subtract_outer(part.data(), v.data(), factor, d);
}

template <class T>
void add_scatter(const Dense<double>& sum, const Dense<const T>& part, const Dense<const double>& shifts) {
    const auto d = static_cast<std::int64_t>(sum.shape(0));
    require(sum.shape(0) == sum.shape(1) && part.shape(0) == sum.shape(0) && part.shape(1) == sum.shape(0),
            "sum and part must be square and of one size");
    require(shifts.shape(1) == sum.shape(0), "shifts must have a column for every column of sum");
    const auto classes = static_cast<std::int64_t>(shifts.shape(0));
    nb::gil_scoped_release free;
    lowdim::kernels().moments<T>().add_scatter(sum.data(), part.data(), shifts.data(), classes, d);
}

// Runs Python's signal handlers; true if one of them raised (Ctrl-C). The error stays set and is
// thrown by rethrow_if_stopped once every thread has come home.
bool signals_pending(void*) {
    nb::gil_scoped_acquire hold;
    return PyErr_CheckSignals() != 0;
}

void rethrow_if_stopped(const lowdim::Stop& stop) {
    if (stop.requested()) throw nb::python_error();
}

template <class T>
void fill_normal(const Vector<T>& out, std::uint64_t seed, std::uint64_t stream, int threads) {
    constexpr std::int64_t block = 1 << 14;
    const auto n = static_cast<std::int64_t>(out.shape(0));
    T* data = out.data();
    lowdim::Stop stop(signals_pending, nullptr);
    {
        nb::gil_scoped_release free;
        lowdim::parallel_blocks((n + block - 1) / block, threads, stop, [=](std::int64_t b) {
            const std::int64_t end = std::min(n, (b + 1) * block);
            for (std::int64_t i = b * block; i < end; i += 2) {
                const auto pair = lowdim::normal_pair(lowdim::draw(seed, stream, static_cast<std::uint64_t>(i / 2)));
                data[i] = static_cast<T>(pair[0]);
                if (i + 1 < end) data[i + 1] = static_cast<T>(pair[1]);
            }
        });
    }
    rethrow_if_stopped(stop);
}

void fill_words(const Vector<std::uint32_t>& out, std::uint64_t seed, std::uint64_t stream) {
    require(out.shape(0) % 4 == 0, "out must hold whole draws of four words");
    for (std::size_t i = 0; i < out.shape(0); i += 4) {
        const auto words = lowdim::draw(seed, stream, i / 4);
        std::copy(words.begin(), words.end(), out.data() + i);
    }
}

// A loop that does nothing but ask whether to stop, so that the tests can press Ctrl-C inside it.
void idle(double seconds, int threads) {
    lowdim::Stop stop(signals_pending, nullptr);
    {
        nb::gil_scoped_release free;
        lowdim::parallel_blocks(static_cast<std::int64_t>(seconds * 1000) * threads, threads, stop,
                                [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    }
    rethrow_if_stopped(stop);
}

template <class T>
void bind_moments(nb::module_& m) {
    m.def("column_sums", &column_sums<T>, "x"_a.noconvert(), "codes"_a.none(), "weights"_a.none(), "sums"_a.noconvert(),
          "Weighted column sums by class into `sums` (C, d); False if one is not finite.");
    m.def("center", &center<T>, "x"_a.noconvert(), "means"_a.noconvert(), "out"_a.noconvert(), "codes"_a.none() = nb::none(),
          "scale"_a.none() = nb::none(), "root_weights"_a.none() = nb::none(),
          "(x - mean of its class) * scale * root weight into `out`; False if one is not finite.");
    m.def("shift_rows", &shift_rows<T>, "x"_a.noconvert(), "shift"_a.noconvert(), "out"_a.noconvert(), "sums"_a.noconvert(),
          "x - shift into `out` and its column sums into `sums`; False if one is not finite.");
    m.def("subtract_outer", &subtract_outer<T>, "part"_a.noconvert(), "v"_a.noconvert(), "factor"_a,
          "part -= factor * outer(v, v), in place.");
    m.def("add_scatter", &add_scatter<T>, "sum"_a.noconvert(), "part"_a.noconvert(), "shifts"_a.noconvert(),
          "sum += part + shifts.T @ shifts, in place.");
    m.def("fill_normal", &fill_normal<T>, "out"_a.noconvert(), "seed"_a, "stream"_a, "threads"_a,
          "Standard normals, each a pure function of (seed, stream, position).");
}

}  // namespace

#include "bind_neighbors.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Kernels of lowdim. Private: call them through the package.";
    bind_moments<float>(m);
    bind_moments<double>(m);
    bind_neighbors(m);
    m.def("fill_words", &fill_words, "out"_a.noconvert(), "seed"_a, "stream"_a, "Raw Philox 4x32-10 words.");
    m.def("idle", &idle, "seconds"_a, "threads"_a, "Wait, polling for Ctrl-C as every long kernel does.");
    m.def("instruction_set", [] { return std::string(lowdim::kernels().name); }, "The instruction set in use.");
    m.def("hardware_threads", &lowdim::hardware_threads, "Processors that OpenMP sees (1 without OpenMP).");
    m.def("has_openmp", &lowdim::has_openmp, "Whether the module was built with OpenMP.");
}

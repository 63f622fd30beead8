#include <utility>
#include <vector>

#include "bindings/run.hpp"

namespace {

void require_codes(const std::optional<Ids>& codes, std::size_t classes) {
    if (codes) require_below(*codes, classes, 1, "a class code is out of range");
}

template <class T>
bool column_sums(const Matrix<T>& x, std::optional<Ids> codes, std::optional<Vector<const double>> weights, const Dense<double>& sums) {
    require(sums.shape(1) == x.shape(1) && sums.shape(0) >= 1, "sums must have a column for every column of x, and a row");
    const auto block = rows_of(x);
    const auto* code = data_or_null(codes, x.shape(0), "codes must have one entry per row");
    const auto* weight = data_or_null(weights, x.shape(0), "weights must have one entry per row");
    const auto classes = static_cast<std::int64_t>(sums.shape(0));
    require_codes(codes, sums.shape(0));
    nb::gil_scoped_release unlocked;
    return lowdim::kernels().moments.of<T>().column_sums(block, code, weight, sums.data(), classes);
}

template <class T>
bool center(const Matrix<T>& x, const Dense<const double>& means, const Dense<T>& out, std::optional<Ids> codes,
            std::optional<Vector<const double>> scale, std::optional<Vector<const double>> root_weights) {
    require(means.shape(1) == x.shape(1) && means.shape(0) >= 1, "means must have a column for every column of x");
    require(same_shape(out, x), "out must have the shape of x");
    const auto block = rows_of(x);
    const auto* code = data_or_null(codes, x.shape(0), "codes must have one entry per row");
    const auto* factor = data_or_null(scale, x.shape(1), "scale must have one entry per column");
    const auto* root = data_or_null(root_weights, x.shape(0), "root_weights must have one entry per row");
    require_codes(codes, means.shape(0));
    nb::gil_scoped_release unlocked;
    return lowdim::kernels().moments.of<T>().center(block, code, means.data(), factor, root, out.data());
}

template <class T>
bool shift_rows(const Matrix<T>& x, const Vector<const T>& shift, const Dense<T>& out, const Vector<double>& sums) {
    require(shift.shape(0) == x.shape(1) && sums.shape(0) == x.shape(1), "shift and sums must have one entry per column");
    require(same_shape(out, x), "out must have the shape of x");
    const auto block = rows_of(x);
    nb::gil_scoped_release unlocked;
    return lowdim::kernels().moments.of<T>().shift_rows(block, shift.data(), out.data(), sums.data());
}

template <class T>
void subtract_outer(const Dense<T>& part, const Vector<const double>& v, double factor) {
    const auto d = static_cast<std::int64_t>(part.shape(0));
    require(part.shape(0) == part.shape(1) && v.shape(0) == part.shape(0), "part must be square, and v as long as its side");
    nb::gil_scoped_release unlocked;
    lowdim::kernels().moments.of<T>().subtract_outer(part.data(), v.data(), factor, d);
}

template <class T>
void add_scatter(const Dense<double>& sum, const Dense<const T>& part, const Dense<const double>& shifts) {
    const auto d = static_cast<std::int64_t>(sum.shape(0));
    require(sum.shape(0) == sum.shape(1) && part.shape(0) == sum.shape(0) && part.shape(1) == sum.shape(0),
            "sum and part must be square and of the same size");
    require(shifts.shape(1) == sum.shape(0), "shifts must have a column for every column of sum");
    const auto classes = static_cast<std::int64_t>(shifts.shape(0));
    nb::gil_scoped_release unlocked;
    lowdim::kernels().moments.of<T>().add_scatter(sum.data(), part.data(), shifts.data(), classes, d);
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
}

template <class T, class I>
void sparse_times(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values, const Dense<const T>& v,
                  const Dense<T>& out) {
    const auto block = sparse_rows<T, I>(starts, columns, values, out.shape(0), v.shape(0));
    require(v.shape(1) == out.shape(1), "v and out must have the same number of columns");
    nb::gil_scoped_release unlocked;
    lowdim::kernels().sparse.of<T, I>().times(block, v.data(), static_cast<std::int64_t>(v.shape(1)), out.data());
}

template <class T, class I>
void sparse_transpose_times(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                            const Dense<const T>& u, const Dense<double>& out) {
    const auto block = sparse_rows<T, I>(starts, columns, values, u.shape(0), out.shape(0));
    require(u.shape(1) == out.shape(1), "u and out must have the same number of columns");
    nb::gil_scoped_release unlocked;
    lowdim::kernels().sparse.of<T, I>().transpose_times(block, u.data(), static_cast<std::int64_t>(u.shape(1)), out.data());
}

template <class T, class I>
void bind_sparse(nb::module_& m) {
    m.def("sparse_times", &sparse_times<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "v"_a.noconvert(),
          "out"_a.noconvert(), "X v into `out`, for X in compressed sparse rows.");
    m.def("sparse_transpose_times", &sparse_transpose_times<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "u"_a.noconvert(), "out"_a.noconvert(), "out += X.T @ u, for X in compressed sparse rows.");
}

template <class T>
void half_symmetric_times(const Matrix<T>& strip, std::int64_t start, const Dense<const T>& v, const Dense<double>& own,
                          const Dense<T>& above) {
    const auto rows = rows_of(strip);
    const auto k = static_cast<std::int64_t>(v.shape(1));
    require(start >= 0 && rows.columns == start + rows.rows, "a strip ends with its diagonal block");
    require(static_cast<std::int64_t>(v.shape(0)) >= rows.columns, "v must have a row for every column of the strip");
    require(k % lowdim::half_symmetric_padding == 0, "v must be padded to a multiple of 16 columns");
    require(static_cast<std::int64_t>(own.shape(0)) == rows.rows && own.shape(1) == v.shape(1),
            "own must have one row per row of the strip and the columns of v");
    require(static_cast<std::int64_t>(above.shape(0)) == start && above.shape(1) == v.shape(1),
            "above must have `start` rows and the columns of v");
    nb::gil_scoped_release unlocked;
    lowdim::kernels().half_symmetric.times.of<T>()(rows, start, v.data(), k, own.data(), above.data());
}

template <class T>
void row_products(const Matrix<T>& x, const Dense<const T>& v, std::int64_t columns, const Dense<double>& out) {
    const auto rows = rows_of(x);
    const auto k = static_cast<std::int64_t>(v.shape(1));
    require(v.shape(0) == x.shape(1), "v must have a row for every column of x");
    require(k % lowdim::half_symmetric_padding == 0, "v must be padded to a multiple of 16 columns");
    require(columns >= 0 && columns <= k, "columns must be at most the columns of v");
    require(out.shape(0) == x.shape(0) && out.shape(1) == v.shape(1), "out must have the rows of x and the columns of v");
    nb::gil_scoped_release unlocked;
    lowdim::kernels().half_symmetric.row_products.of<T>()(rows, v.data(), columns, k, out.data());
}

template <class T>
void bind_half_symmetric(nb::module_& m) {
    m.def("row_products", &row_products<T>, "x"_a.noconvert(), "v"_a.noconvert(), "columns"_a, "out"_a.noconvert(),
          "out += x @ v for the first columns of v; the bits of a row do not depend on the other rows.");
    m.def("half_symmetric_times", &half_symmetric_times<T>, "strip"_a.noconvert(), "start"_a, "v"_a.noconvert(), "own"_a.noconvert(),
          "above"_a.noconvert(),
          "For rows from `start` of a symmetric matrix up to their diagonal block: own += strip @ v[:stop], "
          "above += strip[:, :start].T @ v[start:stop].");
}

using Csr = lowdim::SparseBlock<double, std::int32_t>;

// One step of the recurrence, for all rows.
void recurrence_step(const Csr& m, const lowdim::ChebyshevStep& step, const lowdim::ThreadTeam& team) {
    lowdim::parallel_ranges(m.rows, 256, team,
                            [&](std::int64_t begin, std::int64_t end) { lowdim::kernels().chebyshev.chebyshev_rows(m, begin, end, step); });
}

// out = T_degree((M - center) / half) V; advance(step, team) makes one step of the recurrence.
template <class Advance>
void run_recurrence(const Dense<const double>& v, std::pair<double, double> interval, int degree, const Dense<double>& out, int threads,
                    const Advance& advance) {
    const auto n = static_cast<std::int64_t>(v.shape(0)), width = static_cast<std::int64_t>(v.shape(1));
    require(same_shape(out, v) && degree >= 1, "out must have the shape of v");
    const double center = (interval.first + interval.second) / 2, half = (interval.second - interval.first) / 2;
    require(half > 0, "the interval must not be empty");
    std::vector<double> spare[2];
    for (auto& vector : spare) vector.resize(degree > 1 ? n * width : 0);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        const double *previous = v.data(), *current = v.data();
        for (int step = 0; step < degree && !team.stopped(); ++step) {
            double* next = step == degree - 1 ? out.data() : spare[step % 2].data();  // overwrites `previous`
            advance({previous, current, current, next, width, center, (step == 0 ? 1 : 2) / half, step == 0 ? 0.0 : 1.0}, team);
            previous = current;
            current = next;
        }
    });
}

void chebyshev_filter(const Ids& starts, const Ids& columns, const Vector<const double>& values, const Dense<const double>& v,
                      std::pair<double, double> interval, int degree, const Dense<double>& out, int threads) {
    const std::size_t n = v.shape(0);
    const Csr m = sparse_rows(starts, columns, values, n, n, threads);
    run_recurrence(v, interval, degree, out, threads,
                   [&](const lowdim::ChebyshevStep& step, const lowdim::ThreadTeam& team) { recurrence_step(m, step, team); });
}

// The same for M = AᵀA, which is never formed: A may have far fewer entries.
void chebyshev_filter_gram(const Ids& starts, const Ids& columns, const Vector<const double>& values, const Ids& transposed_starts,
                           const Ids& transposed_columns, const Vector<const double>& transposed_values, const Dense<const double>& v,
                           std::pair<double, double> interval, int degree, const Dense<double>& out, int threads) {
    const std::size_t n = v.shape(0);
    const Csr a = sparse_rows(starts, columns, values, n, n, threads);
    const Csr transposed = sparse_rows(transposed_starts, transposed_columns, transposed_values, n, n, threads);
    std::vector<double> image(v.size());
    run_recurrence(v, interval, degree, out, threads, [&](lowdim::ChebyshevStep step, const lowdim::ThreadTeam& team) {
        recurrence_step(a, {step.current, step.current, step.current, image.data(), step.width, 0.0, 1.0, 0.0}, team);
        step.source = image.data();
        recurrence_step(transposed, step, team);
    });
}

// out = scale (S x) + shift x + z_scale z.
void three_term_step(const Starts& starts, const Ids& columns, const Vector<const float>& values, const Dense<const float>& x,
                     const Dense<const float>& z, const Dense<float>& out, float scale, float shift, float z_scale, int threads) {
    const std::size_t n = x.shape(0), width = x.shape(1);
    require(width == 8 || width == 16 || width == 32, "a block must have 8, 16 or 32 vectors");
    require(same_shape(z, x) && same_shape(out, x), "z and out must have the shape of x");
    require_graph(starts, n, columns, n, threads);
    require(same_shape(values, columns), "not compressed sparse rows: every column needs a value");
    const lowdim::ThreeTermStep step = {starts.data(), columns.data(), values.data(), x.data(), z.data(),
                                        out.data(),    scale,          shift,         z_scale};
    const auto kernel = lowdim::kernels().chebyshev.three_term[width == 8 ? 0 : width == 16 ? 1 : 2];
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(n), 1024, team,
                                [&](std::int64_t begin, std::int64_t end) { kernel(step, begin, end); });
    });
}

void bind_chebyshev(nb::module_& m) {
    m.def("chebyshev_filter", &chebyshev_filter, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "v"_a.noconvert(),
          "interval"_a, "degree"_a, "out"_a.noconvert(), "threads"_a,
          "The Chebyshev polynomial of a symmetric sparse M, with the interval mapped to [-1, 1], times v.");
    m.def("chebyshev_filter_gram", &chebyshev_filter_gram, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "transposed_starts"_a.noconvert(), "transposed_columns"_a.noconvert(), "transposed_values"_a.noconvert(), "v"_a.noconvert(),
          "interval"_a, "degree"_a, "out"_a.noconvert(), "threads"_a,
          "chebyshev_filter for M = AᵀA, from the sparse rows of A and of its transpose.");
    m.def("three_term_step", &three_term_step, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "x"_a.noconvert(),
          "z"_a.noconvert(), "out"_a.noconvert(), "scale"_a, "shift"_a, "z_scale"_a, "threads"_a,
          "out = scale S x + shift x + z_scale z, for a symmetric sparse S.");
}

}  // namespace

void bind_linalg(nb::module_& m) {
    bind_moments<float>(m);
    bind_moments<double>(m);
    bind_sparse<float, std::int32_t>(m);
    bind_sparse<double, std::int32_t>(m);
    bind_sparse<float, std::int64_t>(m);
    bind_sparse<double, std::int64_t>(m);
    bind_half_symmetric<float>(m);
    bind_half_symmetric<double>(m);
    bind_chebyshev(m);
}

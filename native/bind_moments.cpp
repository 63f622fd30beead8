#include "binding.hpp"

namespace {

void require_codes(const std::optional<Ids>& codes, std::size_t classes) {
    if (codes) require_below(*codes, classes, 1, "a class code is out of range");
}

template <class T>
bool column_sums(const Matrix<T>& x, std::optional<Ids> codes,
                 std::optional<Vector<const double>> weights, const Dense<double>& sums) {
    require(sums.shape(1) == x.shape(1), "sums must have a column for every column of x");
    const auto block = rows_of(x);
    const auto* code = data_or_null(codes, x.shape(0), "codes must have one entry a row");
    const auto* weight = data_or_null(weights, x.shape(0), "weights must have one entry a row");
    const auto classes = static_cast<std::int64_t>(sums.shape(0));
    require_codes(codes, sums.shape(0));
    nb::gil_scoped_release free;
    return lowdim::kernels().moments.of<T>().column_sums(block, code, weight, sums.data(), classes);
}

template <class T>
bool center(const Matrix<T>& x, const Dense<const double>& means, const Dense<T>& out,
            std::optional<Ids> codes, std::optional<Vector<const double>> scale,
            std::optional<Vector<const double>> root_weights) {
    require(means.shape(1) == x.shape(1) && means.shape(0) >= 1, "means must have a column for every column of x");
    require(same_shape(out, x), "out must have the shape of x");
    const auto block = rows_of(x);
    const auto* code = data_or_null(codes, x.shape(0), "codes must have one entry a row");
    const auto* factor = data_or_null(scale, x.shape(1), "scale must have one entry a column");
    const auto* root = data_or_null(root_weights, x.shape(0), "root_weights must have one entry a row");
    require_codes(codes, means.shape(0));
    nb::gil_scoped_release free;
    return lowdim::kernels().moments.of<T>().center(block, code, means.data(), factor, root, out.data());
}

template <class T>
bool shift_rows(const Matrix<T>& x, const Vector<const T>& shift, const Dense<T>& out, const Vector<double>& sums) {
    require(shift.shape(0) == x.shape(1) && sums.shape(0) == x.shape(1), "shift and sums must have one entry a column");
    require(same_shape(out, x), "out must have the shape of x");
    const auto block = rows_of(x);
    nb::gil_scoped_release free;
    return lowdim::kernels().moments.of<T>().shift_rows(block, shift.data(), out.data(), sums.data());
}

template <class T>
void subtract_outer(const Dense<T>& part, const Vector<const double>& v, double factor) {
    const auto d = static_cast<std::int64_t>(part.shape(0));
    require(part.shape(0) == part.shape(1) && v.shape(0) == part.shape(0), "part must be square and v as long");
    nb::gil_scoped_release free;
    lowdim::kernels().moments.of<T>().subtract_outer(part.data(), v.data(), factor, d);
}

template <class T>
void add_scatter(const Dense<double>& sum, const Dense<const T>& part, const Dense<const double>& shifts) {
    const auto d = static_cast<std::int64_t>(sum.shape(0));
    require(sum.shape(0) == sum.shape(1) && part.shape(0) == sum.shape(0) && part.shape(1) == sum.shape(0),
            "sum and part must be square and of one size");
    require(shifts.shape(1) == sum.shape(0), "shifts must have a column for every column of sum");
    const auto classes = static_cast<std::int64_t>(shifts.shape(0));
    nb::gil_scoped_release free;
    lowdim::kernels().moments.of<T>().add_scatter(sum.data(), part.data(), shifts.data(), classes, d);
}

template <class T>
void bind_for(nb::module_& m) {
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

}  // namespace

void bind_moments(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
}

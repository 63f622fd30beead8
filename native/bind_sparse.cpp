#include "binding.hpp"

namespace {

template <class T, class I>
lowdim::SparseBlock<T, I> sparse_rows(const Vector<const I>& starts, const Vector<const I>& columns,
                                      const Vector<const T>& values, std::size_t rows, std::size_t d) {
    require(starts.shape(0) == rows + 1 && columns.shape(0) == values.shape(0), "not a block of compressed sparse rows");
    const auto stored = static_cast<I>(values.shape(0));
    for (std::size_t i = 0; i < rows; ++i)
        require(starts.data()[i] >= 0 && starts.data()[i] <= starts.data()[i + 1] && starts.data()[i + 1] <= stored,
                "the starts of the rows are out of order");
    for (std::size_t p = 0; p < columns.shape(0); ++p)
        require(columns.data()[p] >= 0 && static_cast<std::size_t>(columns.data()[p]) < d, "a column is out of range");
    return {starts.data(), columns.data(), values.data(), static_cast<std::int64_t>(rows)};
}

template <class T, class I>
void sparse_times(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                  const Dense<const T>& v, const Dense<T>& out) {
    const auto block = sparse_rows<T, I>(starts, columns, values, out.shape(0), v.shape(0));
    require(v.shape(1) == out.shape(1), "v and out must have one width");
    nb::gil_scoped_release free;
    lowdim::kernels().sparse<T, I>().times(block, v.data(), static_cast<std::int64_t>(v.shape(1)), out.data());
}

template <class T, class I>
void sparse_transpose_times(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                            const Dense<const T>& u, const Dense<double>& out) {
    const auto block = sparse_rows<T, I>(starts, columns, values, u.shape(0), out.shape(0));
    require(u.shape(1) == out.shape(1), "u and out must have one width");
    nb::gil_scoped_release free;
    lowdim::kernels().sparse<T, I>().transpose_times(block, u.data(), static_cast<std::int64_t>(u.shape(1)), out.data());
}

template <class T, class I>
void bind_for(nb::module_& m) {
    m.def("sparse_times", &sparse_times<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "v"_a.noconvert(), "out"_a.noconvert(), "X v into `out`, for X in compressed sparse rows.");
    m.def("sparse_transpose_times", &sparse_transpose_times<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(),
          "values"_a.noconvert(), "u"_a.noconvert(), "out"_a.noconvert(), "out += X.T @ u, for X in compressed sparse rows.");
}

}  // namespace

void bind_sparse(nb::module_& m) {
    bind_for<float, std::int32_t>(m);
    bind_for<double, std::int32_t>(m);
    bind_for<float, std::int64_t>(m);
    bind_for<double, std::int64_t>(m);
}

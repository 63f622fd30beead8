#include "binding.hpp"

namespace {

template <class T, class I>
void sparse_times(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                  const Dense<const T>& v, const Dense<T>& out) {
    const auto block = sparse_rows<T, I>(starts, columns, values, out.shape(0), v.shape(0));
    require(v.shape(1) == out.shape(1), "v and out must have one width");
    nb::gil_scoped_release free;
    lowdim::kernels().sparse.of<T, I>().times(block, v.data(), static_cast<std::int64_t>(v.shape(1)), out.data());
}

template <class T, class I>
void sparse_transpose_times(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                            const Dense<const T>& u, const Dense<double>& out) {
    const auto block = sparse_rows<T, I>(starts, columns, values, u.shape(0), out.shape(0));
    require(u.shape(1) == out.shape(1), "u and out must have one width");
    nb::gil_scoped_release free;
    lowdim::kernels().sparse.of<T, I>().transpose_times(block, u.data(), static_cast<std::int64_t>(u.shape(1)), out.data());
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

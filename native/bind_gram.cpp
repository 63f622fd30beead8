#include "binding.hpp"

namespace {

template <class T>
void mirrored_times(const Matrix<T>& strip, std::int64_t start, const Dense<const T>& v, const Dense<double>& own,
                    const Dense<T>& above) {
    const auto rows = rows_of(strip);
    const auto k = static_cast<std::int64_t>(v.shape(1));
    require(start >= 0 && rows.columns == start + rows.rows, "a strip ends with its diagonal block");
    require(static_cast<std::int64_t>(v.shape(0)) >= rows.columns, "v must have a row for every column of the strip");
    require(k % lowdim::mirror_width == 0, "v must be padded to a multiple of 16 columns");
    require(static_cast<std::int64_t>(own.shape(0)) == rows.rows && own.shape(1) == v.shape(1), "own has another shape");
    require(static_cast<std::int64_t>(above.shape(0)) == start && above.shape(1) == v.shape(1), "above has another shape");
    nb::gil_scoped_release free;
    lowdim::kernels().gram.mirrored.of<T>()(rows, start, v.data(), k, own.data(), above.data());
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("mirrored_times", &mirrored_times<T>, "strip"_a.noconvert(), "start"_a, "v"_a.noconvert(), "own"_a.noconvert(),
          "above"_a.noconvert(),
          "For rows from `start` of a symmetric matrix up to their diagonal block: own += strip @ v[:stop], "
          "above += strip[:, :start].T @ v[start:stop].");
}

}  // namespace

void bind_gram(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
}

#include "bindings/run.hpp"
#include "ica/pass.hpp"

namespace {

void require_contrast(int contrast) {
    require(0 <= contrast && contrast < lowdim::ica_contrasts, "contrast must be 0 (logcosh), 1 (exp) or 2 (cube)");
}

template <class T>
void ica_pass(const Dense<const T>& rows, const Dense<const T>& unmixing, std::optional<Vector<const double>> weights, int contrast,
              const Dense<double>& moments, const Dense<double>& sums, std::int64_t block_rows, int threads) {
    require_contrast(contrast);
    require(unmixing.shape(1) == rows.shape(1) && rows.shape(1) >= 1, "rows and unmixing must have the same columns, at least one");
    require(same_shape(moments, unmixing), "moments must have the shape of the unmixing matrix");
    require(sums.shape(0) == unmixing.shape(0) && sums.shape(1) == lowdim::ica_sums, "sums must have three numbers per source");
    require(1 <= block_rows && block_rows <= std::int64_t{1} << 32, "block_rows must be from 1 to 2**32");
    const auto* weight = data_or_null(weights, rows.shape(0), "weights must have one entry per row");
    const lowdim::IcaPass<T> pass = {rows.data(),
                                     unmixing.data(),
                                     weight,
                                     static_cast<std::int64_t>(rows.shape(0)),
                                     static_cast<std::int64_t>(rows.shape(1)),
                                     static_cast<std::int64_t>(unmixing.shape(0)),
                                     block_rows};
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::ica_pass(pass, contrast, moments.data(), sums.data(), team); });
}

template <class T>
void contrast_values(const Vector<const T>& y, int contrast, const Vector<T>& score, const Vector<T>& slope, const Vector<T>& value) {
    require_contrast(contrast);
    require(same_shape(score, y) && same_shape(slope, y) && same_shape(value, y), "score, slope and value must be as long as y");
    const auto count = static_cast<std::int64_t>(y.shape(0));
    lowdim::kernels().ica.of<T>().values[contrast](y.data(), count, score.data(), slope.data(), value.data());
}

template <class T>
void bind_precision(nb::module_& m) {
    m.def("ica_pass", &ica_pass<T>, "rows"_a.noconvert(), "unmixing"_a.noconvert(), "weights"_a.noconvert().none(), "contrast"_a,
          "moments"_a.noconvert(), "sums"_a.noconvert(), "block_rows"_a, "threads"_a,
          "For sources y = unmixing z of whitened rows z and a contrast with score psi: sums of psi(y) z' into `moments`, and of psi', "
          "psi' y^2 and the contrast into `sums`. They are summed over blocks of block_rows rows, and these along a binary tree.");
    m.def("contrast_values", &contrast_values<T>, "y"_a.noconvert(), "contrast"_a, "score"_a.noconvert(), "slope"_a.noconvert(),
          "value"_a.noconvert(), "Score, slope of the score, and value of a contrast of ICA.");
}

}  // namespace

void bind_ica(nb::module_& m) {
    bind_precision<float>(m);
    bind_precision<double>(m);
}

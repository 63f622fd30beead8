// One fused pass over whitened rows: sources y = W z, the score ψ(y), and the sums that a step of FastICA or Picard needs.
// A block of rows is transposed into scratch memory that stays in cache, so that every loop runs along rows.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr int column_tile = 2;  // with ica_source_tile, accumulators and operands fill 16 vector registers

// columns[j, r] = row r, column j; zero beyond the last row. The weights likewise.
template <class T>
void transpose_block(const IcaPass<T>& pass, std::int64_t begin, std::int64_t end, std::int64_t padded, T* columns, T* weights) {
    constexpr std::int64_t few = 8;  // rows whose values share a cache line of a column
    const std::int64_t count = end - begin, k = pass.columns, stride = ica_stride(k, sizeof(T));
    const T* rows = pass.rows + begin * k;
    for (std::int64_t r0 = 0; r0 < padded; r0 += few) {
        const std::int64_t here = std::clamp<std::int64_t>(count - r0, 0, few);
        for (std::int64_t j = 0; j < k; ++j) {
            T* target = columns + j * stride + r0;
            for (std::int64_t r = 0; r < here; ++r) target[r] = rows[(r0 + r) * k + j];
            for (std::int64_t r = here; r < few; ++r) target[r] = T(0);
        }
    }
    for (std::int64_t r = 0; r < padded; ++r)
        weights[r] = r >= count ? T(0) : pass.weights == nullptr ? T(1) : static_cast<T>(pass.weights[begin + r]);
}

// y = W z for R sources.
template <class T, int R>
void project_block(const T* unmixing, std::int64_t k, const T* columns, std::int64_t stride, std::int64_t padded, T* y) {
    constexpr int W = wide_lanes<T>;
    for (std::int64_t r = 0; r < padded; r += column_tile * W) {
        Wide<T> sum[R][column_tile] = {};
        for (std::int64_t j = 0; j < k; ++j) {
            const Wide<T> z0 = wide_load(columns + j * stride + r), z1 = wide_load(columns + j * stride + r + W);
            for (int i = 0; i < R; ++i) {
                const Wide<T> w = wide_set<T>(unmixing[i * k + j]);
                sum[i][0] += w * z0;
                sum[i][1] += w * z1;
            }
        }
        for (int i = 0; i < R; ++i)
            for (int c = 0; c < column_tile; ++c) wide_store<T>(y + i * stride + r + c * W, sum[i][c]);
    }
}

// y becomes w ψ(y); the weighted sums of ψ', ψ' y² and ρ are added to `sums`.
template <class T, class Contrast>
void score_block(T* y, const T* weights, std::int64_t padded, double* sums) {
    Wide<T> slopes = {}, curvatures = {}, values = {};
    for (std::int64_t r = 0; r < padded; r += wide_lanes<T>) {
        const Wide<T> at = wide_load(y + r), weight = wide_load(weights + r);
        const ContrastValues<T> found = Contrast::template at<T>(at);
        const Wide<T> slope = weight * found.slope;
        wide_store<T>(y + r, weight * found.score);
        slopes += slope;
        curvatures += slope * at * at;
        values += weight * found.value;
    }
    sums[0] += wide_sum<T>(slopes);
    sums[1] += wide_sum<T>(curvatures);
    sums[2] += wide_sum<T>(values);
}

// moments[i, j] += Σ w ψ(y_i) z_j for R sources and C columns.
template <class T, int R, int C>
void correlate_block(const T* scores, const T* columns, std::int64_t stride, std::int64_t padded, double* moments, std::int64_t k) {
    Wide<T> sum[R][C] = {};
    for (std::int64_t r = 0; r < padded; r += wide_lanes<T>) {
        Wide<T> z[C];
        for (int c = 0; c < C; ++c) z[c] = wide_load(columns + c * stride + r);
        for (int i = 0; i < R; ++i) {
            const Wide<T> score = wide_load(scores + i * stride + r);
            for (int c = 0; c < C; ++c) sum[i][c] += score * z[c];
        }
    }
    for (int i = 0; i < R; ++i)
        for (int c = 0; c < C; ++c) moments[i * k + c] += wide_sum<T>(sum[i][c]);
}

// R sources of one block: project, score, correlate.
template <class T, class Contrast, int R>
void source_block(const T* unmixing, std::int64_t k, const T* columns, const T* weights, std::int64_t stride, std::int64_t padded, T* y,
                  double* moments, double* sums) {
    project_block<T, R>(unmixing, k, columns, stride, padded, y);
    for (int i = 0; i < R; ++i) score_block<T, Contrast>(y + i * stride, weights, padded, sums + i * ica_sums);
    std::int64_t j = 0;
    for (; j + column_tile <= k; j += column_tile)
        correlate_block<T, R, column_tile>(y, columns + j * stride, stride, padded, moments + j, k);
    for (; j < k; ++j) correlate_block<T, R, 1>(y, columns + j * stride, stride, padded, moments + j, k);
}

// Adds the sums of rows begin … end, at most one block. `scratch`: see ica_scratch.
template <class T, class Contrast>
void ica_block(const IcaPass<T>& pass, std::int64_t begin, std::int64_t end, T* scratch, double* moments, double* sums) {
    constexpr std::int64_t step = column_tile * wide_lanes<T> > 8 ? column_tile * wide_lanes<T> : 8;
    const std::int64_t k = pass.columns, stride = ica_stride(k, sizeof(T)), padded = (end - begin + step - 1) / step * step;
    T *columns = scratch, *weights = columns + k * stride, *y = weights + stride;
    transpose_block(pass, begin, end, padded, columns, weights);
    using Sources = void (*)(const T*, std::int64_t, const T*, const T*, std::int64_t, std::int64_t, T*, double*, double*);
    constexpr Sources by_count[ica_source_tile] = {source_block<T, Contrast, 1>, source_block<T, Contrast, 2>,
                                                   source_block<T, Contrast, 3>, source_block<T, Contrast, 4>,
                                                   source_block<T, Contrast, 5>, source_block<T, Contrast, 6>};
    for (std::int64_t i = 0; i < pass.sources; i += ica_source_tile) {
        const std::int64_t here = std::min<std::int64_t>(ica_source_tile, pass.sources - i);
        by_count[here - 1](pass.unmixing + i * k, k, columns, weights, stride, padded, y, moments + i * k, sums + i * ica_sums);
    }
}

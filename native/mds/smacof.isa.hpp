// SMACOF: one fused pass over the packed triangle of pairs.
// The triangle is condensed as in SciPy: pair (i, j), i < j, follows all pairs of the rows before i.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

template <class T>
constexpr T coincident = sizeof(T) == 4 ? T(1e-30) : T(1e-280);  // squared distances below this have no direction

// Squared distances from point i to points first … first + count of the embedding.
template <class T>
inline void squared_map_distances(const PairTable<T>& pairs, std::int64_t i, std::int64_t first, std::int64_t count, T* square) {
    for (std::int64_t c = 0; c < pairs.k; ++c) {
        const T here = pairs.y[c * pairs.n + i];
        const T* there = pairs.y + c * pairs.n + first;
        if (c == 0) {
#pragma omp simd
            for (std::int64_t j = 0; j < count; ++j) square[j] = (here - there[j]) * (here - there[j]);
        } else {
#pragma omp simd
            for (std::int64_t j = 0; j < count; ++j) square[j] += (here - there[j]) * (here - there[j]);
        }
    }
}

// The factor of each pair, and the sums of the loss. Stress: w δ / d; squared stress: w (d² - δ²).
template <class T, bool squared, bool weighted>
inline void pair_factors(const T* square, const T* target, const T* weight, std::int64_t count, T* factor, PairSums& sums) {
    T stress = 0, total = 0, scale_slope = 0;
#pragma omp simd reduction(+ : stress, total, scale_slope)
    for (std::int64_t j = 0; j < count; ++j) {
        const T w = weighted ? weight[j] : T(1);
        if constexpr (squared) {
            const T excess = square[j] - target[j] * target[j];
            factor[j] = w * excess;
            stress += w * excess * excess;
        } else {
            const T d = std::sqrt(square[j]);
            const T residual = target[j] - d;
            stress += w * residual * residual;
            total += w * square[j];
            scale_slope -= w * d * residual;
            factor[j] = square[j] > coincident<T> ? w * target[j] / d : T(0);
        }
    }
    sums.stress += static_cast<double>(stress);
    sums.squares += static_cast<double>(total);
    sums.scale_slope += static_cast<double>(scale_slope);
}

// Rows of a tile are far apart in the triangle and too short for the hardware prefetcher.
template <class T>
inline void prefetch_row(const T* values, std::int64_t at, std::int64_t count) {
#if defined(__GNUC__)
    for (std::int64_t j = 0; j < count; j += static_cast<std::int64_t>(64 / sizeof(T))) __builtin_prefetch(values + at + j);
#else
    (void)values, (void)at, (void)count;
#endif
}

#if defined(__GNUC__) && defined(__AVX2__)
#define LOWDIM_PLANAR_ROWS 1

// 1 / √x, or 0 for coincident points: an estimate and one Newton step, far cheaper than a square root and a division.
inline Floats inverse_root(Floats x) {
#if defined(__AVX512F__)
    const Floats rough = (Floats)_mm512_rsqrt14_ps((__m512)x);
#else
    const Floats rough = (Floats)_mm256_rsqrt_ps((__m256)x);
#endif
    const Floats better = rough * (1.5f - 0.5f * x * rough * rough);
    return x > coincident<float> ? better : Floats{};
}

// Sums of a few rows per lane, before they are reduced across lanes.
struct PlanarSums {
    Floats stress{}, squares{}, scale_slope{};

    void add_to(PairSums& sums) const {
        sums.stress += static_cast<double>(reduce_sum(stress));
        sums.squares += static_cast<double>(reduce_sum(squares));
        sums.scale_slope -= static_cast<double>(reduce_sum(scale_slope));
    }
};

// A row of a tile in the plane (k = 2) without weights, for stress: what stress_tile does, in registers.
inline void stress_row_in_plane(const float* x, const float* y, const float* here, const float* target, std::int64_t count, float* column_x,
                                float* column_y, double* own, PlanarSums& sums) {
    PlanarSums row = sums;
    Floats own_x{}, own_y{};
    const Floats here_x = broadcast(here[0]), here_y = broadcast(here[1]);
    const auto add_pair = [&](Floats there_x, Floats there_y, Floats target_row, Floats& force_x, Floats& force_y) {
        const Floats dx = here_x - there_x, dy = here_y - there_y;
        const Floats square = dx * dx + dy * dy, inverse = inverse_root(square);
        const Floats d = square * inverse, residual = target_row - d, factor = target_row * inverse;
        row.stress += residual * residual;
        row.squares += square;
        row.scale_slope += d * residual;
        force_x = factor * dx;
        force_y = factor * dy;
        own_x += force_x;
        own_y += force_y;
    };
    Floats force_x, force_y;
    std::int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
        add_pair(load(x + j), load(y + j), load(target + j), force_x, force_y);
        store(column_x + j, load(column_x + j) - force_x);
        store(column_y + j, load(column_y + j) - force_y);
    }
    if (j < count) {  // padding at the same point with target 0 exerts no force
        float part[3][lanes];
        for (int l = 0; l < lanes; ++l) {
            const bool there = j + l < count;
            part[0][l] = there ? x[j + l] : here[0];
            part[1][l] = there ? y[j + l] : here[1];
            part[2][l] = there ? target[j + l] : 0.0f;
        }
        add_pair(load(part[0]), load(part[1]), load(part[2]), force_x, force_y);
        for (int l = 0; j + l < count; ++l) {
            column_x[j + l] -= force_x[l];
            column_y[j + l] -= force_y[l];
        }
    }
    own[0] += static_cast<double>(reduce_sum(own_x));
    own[1] += static_cast<double>(reduce_sum(own_y));
    sums = row;
}
#endif

// A row of a tile: the forces between point i and points first … first + count, added to `own` and to `columns`.
template <class T, bool squared>
LOWDIM_INLINE void stress_row(const PairTable<T>& pairs, std::int64_t i, std::int64_t first, std::int64_t count, const T* target_row,
                              T* columns, std::int64_t width, double* own, PairSums& sums) {
    T square[pair_block], factor[pair_block];
    const std::int64_t at = pair_index(i, first, pairs.n);
    squared_map_distances(pairs, i, first, count, square);
    if (pairs.weights == nullptr) {
        pair_factors<T, squared, false>(square, target_row, nullptr, count, factor, sums);
    } else {
        pair_factors<T, squared, true>(square, target_row, pairs.weights + at, count, factor, sums);
    }
    for (std::int64_t c = 0; c < pairs.k; ++c) {
        const T here = pairs.y[c * pairs.n + i];
        const T* there = pairs.y + c * pairs.n + first;
        T* column = columns + c * width;
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < count; ++j) {
            const T force = factor[j] * (here - there[j]);
            sum += force;
            column[j] -= force;
        }
        own[c] += static_cast<double>(sum);
    }
}

// One tile of pairs: own[i] = Σ factor (y_i - y_j), and likewise for the points of the columns.
// Sums stay in T for a few rows, in `scratch`, before they are added in double.
template <class T, bool squared>
void stress_tile(const PairTable<T>& pairs, const PairTile& tile, T* scratch, double* own, double* others, PairSums& sums) {
    constexpr std::int64_t few = 32;
    const std::int64_t k = pairs.k, width = tile.column_end - tile.column_begin;
    T target[pair_block];
    const std::int32_t* slot = pairs.slots == nullptr ? nullptr : pairs.slots + tile.first_pair;
    std::fill(own, own + (tile.row_end - tile.row_begin) * k, 0.0);
    std::fill(others, others + width * k, 0.0);
    for (std::int64_t begin = tile.row_begin; begin < tile.row_end; begin += few) {
        std::fill(scratch, scratch + k * width, T(0));
        const std::int64_t end = std::min(begin + few, tile.row_end);
#ifdef LOWDIM_PLANAR_ROWS
        PlanarSums planar;
#endif
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t first = std::max(tile.column_begin, i + 1), count = tile.column_end - first;
            if (count <= 0) continue;
            const T* target_row = pairs.targets + pair_index(i, first, pairs.n);
            if (slot == nullptr) {
                prefetch_row(pairs.targets, pair_index(std::min(i + 6, end - 1), first, pairs.n), count);
            } else {
                for (std::int64_t j = 0; j < count; ++j) target[j] = pairs.targets[slot[j]];
                slot += count;
                target_row = target;
            }
#ifdef LOWDIM_PLANAR_ROWS
            if constexpr (sizeof(T) == sizeof(float) && !squared) {
                if (k == 2 && pairs.weights == nullptr) {
                    const T here[2] = {pairs.y[i], pairs.y[pairs.n + i]};
                    T* column = scratch + first - tile.column_begin;
                    stress_row_in_plane(pairs.y + first, pairs.y + pairs.n + first, here, target_row, count, column, column + width,
                                        own + (i - tile.row_begin) * k, planar);
                    continue;
                }
            }
#endif
            stress_row<T, squared>(pairs, i, first, count, target_row, scratch + first - tile.column_begin, width,
                                   own + (i - tile.row_begin) * k, sums);
        }
#ifdef LOWDIM_PLANAR_ROWS
        planar.add_to(sums);
#endif
        for (std::int64_t c = 0; c < k; ++c)
            for (std::int64_t j = 0; j < width; ++j) others[j * k + c] += static_cast<double>(scratch[c * width + j]);
    }
}

// Distances in the embedding of the pairs of a tile, each into its slot (or its position in the triangle).
template <class T>
void map_distances(const PairTable<T>& pairs, const PairTile& tile, T* out) {
    T square[pair_block];
    const std::int32_t* slot = pairs.slots == nullptr ? nullptr : pairs.slots + tile.first_pair;
    for (std::int64_t i = tile.row_begin; i < tile.row_end; ++i) {
        const std::int64_t first = std::max(tile.column_begin, i + 1), count = tile.column_end - first;
        if (count <= 0) continue;
        squared_map_distances(pairs, i, first, count, square);
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) square[j] = std::sqrt(square[j]);
        if (slot == nullptr) {
            std::copy(square, square + count, out + pair_index(i, first, pairs.n));
        } else {
            for (std::int64_t j = 0; j < count; ++j) out[slot[j]] = square[j];
            slot += count;
        }
    }
}

// Stochastic gradient descent on UMAP's cross-entropy, for some rows. A row is moved only by its owner. A sampled edge attracts its
// head to the tail, and negative samples repel it. Among rows that move, it attracts the head once more in a later turn, in the role
// of the tail. With both at once, or twice the force, the first steps would be so long that a row is thrown far beyond its
// neighbor: clusters and sheets are torn.
// Each vector lane holds one row, and results do not depend on the vector width. Rows with equally many samples share a
// vector (step.row_order), or a quarter of the lanes would idle.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

inline RowFloats clipped(RowFloats v) { return bounded(v, -4.0f, 4.0f); }

// An edge is sampled when its rate (2^32 for the heaviest), accumulated over the epochs, carries. Copies the elements of
// `from` for the sampled edges among begin … end to `to`; returns their number.
template <class T>
inline std::int32_t sample_edges(const std::uint32_t* rates, std::int64_t begin, std::int64_t end, std::uint32_t epoch_number,
                                 const T* from, T* to) {
    std::int32_t count = 0;
    std::int64_t p = begin;
#if defined(__AVX512F__)
    const __m512i ticks = _mm512_set1_epi32(static_cast<int>(epoch_number));
    for (; p < end; p += 16) {
        const auto valid = static_cast<__mmask16>(end - p >= 16 ? 0xFFFFu : (1u << (end - p)) - 1u);
        const __m512i rate = _mm512_maskz_loadu_epi32(valid, rates + p);
        const __mmask16 sample = _mm512_mask_cmplt_epu32_mask(valid, _mm512_mullo_epi32(rate, ticks), rate);
        _mm512_mask_compressstoreu_epi32(to + count, sample, _mm512_maskz_loadu_epi32(sample, from + p));
        count += __builtin_popcount(sample);
    }
#endif
    for (; p < end; ++p) {
        to[count] = from[p];
        count += epoch_number * rates[p] < rates[p];
    }
    return count;
}

// Rows that are moved together, one per lane. D is the number of coordinates, or 0 if it is known only at run time; they
// are then kept in `store`.
template <int D, bool dense>
class LaneRows {
  public:
    LaneRows(const UmapStep& step, std::int64_t first, float* store) : step_(step), rows_(load_ints(step.row_order + first)) {
        if constexpr (D == 0) {
            for (int part = 0; part < 3; ++part) heap_[part] = reinterpret_cast<RowFloats*>(store) + part * step.dims;
        }
        const auto block = step.shared_negatives ? 0u : static_cast<std::uint32_t>(first / negative_block);
        key_ = mixed(block * 0x9e3779b9u + step.key);
        if (!step.shared_negatives) first_in_block_ = static_cast<std::int32_t>(first % negative_block);
        if constexpr (D == 2) {
            gather_pairs(step.head_positions, rows_, x(0), x(1));
        } else {
            for (int c = 0; c < dims(); ++c) x(c) = gather(step.head_positions + c, rows_ * dims());
        }
        if constexpr (dense) {
            density_p_ = gather(step.density, 2 * rows_);
            density_q_ = gather(step.density + 1, 2 * rows_);
        }
    }

    // Moves active lanes toward `tail`; `inverse_weights` are one over the weights of the edges.
    template <class Mask>
    LOWDIM_INLINE void attract(RowInts tail, RowFloats inverse_weights, const Mask& active) {
        const UmapParams& params = step_.params;
        const RowFloats square = difference_to_rows(tail);
        const RowFloats p = fast_pow(square, params.b);
        const RowFloats denominator = params.a * p + 1.0f;
        RowFloats attraction = (-2.0f * params.a * params.b) * p / (square * denominator);
        attraction = square > 0.0f ? attraction : RowFloats{};
        RowFloats density_push{};
        if constexpr (dense) {
            const RowFloats phi = 1.0f / denominator, slope = -0.5f * attraction;
            RowFloats all_p = density_p_, all_q = density_q_;
            if (step_.tail_density != nullptr) {
                all_p += gather(step_.tail_density, 2 * tail);
                all_q += gather(step_.tail_density + 1, 2 * tail);
            }
            density_push = 2.0f * phi * ((1.0f - params.b * (1.0f - phi)) * all_p + slope * all_q) * inverse_weights;
        }
        for (int c = 0; c < dims(); ++c) {
            RowFloats change = clipped(attraction * difference(c));
            if constexpr (dense) change += clipped(density_push * difference(c));
            x(c) += active ? step_.alpha * change : RowFloats{};
        }
    }

    // Moves active lanes away from the negative samples of edge sample s.
    template <class Mask>
    LOWDIM_INLINE void repel(std::int32_t s, const Mask& active) {
        const UmapParams& params = step_.params;
        for (int c = 0; c < dims(); ++c) sum(c) = RowFloats{};
        for (std::int32_t draw = 0; draw < params.negative_samples; ++draw) {
            const RowFloats gap = difference_to_adjacent(negative_sample(s, draw));
            RowFloats repulsion = (2.0f * params.repulsion * params.b) / ((gap + 0.001f) * (params.a * fast_pow(gap, params.b) + 1.0f));
            repulsion = gap > 0.0f ? repulsion : RowFloats{};
            for (int c = 0; c < dims(); ++c) sum(c) += clipped(repulsion * difference(c));
        }
        for (int c = 0; c < dims(); ++c) x(c) += active ? step_.alpha * sum(c) : RowFloats{};
    }

    // Writes the positions of the first `lanes` rows.
    void write(int lanes) {
        std::int32_t row[row_lanes];
        std::memcpy(row, &rows_, sizeof row);
        if constexpr (D == 2) {
            float pairs[2 * row_lanes];
            store_interleaved(pairs, x(0), x(1));
            for (int l = 0; l < lanes; ++l) std::memcpy(step_.out + 2 * std::int64_t{row[l]}, pairs + 2 * l, 2 * sizeof(float));
        } else {
            for (int c = 0; c < dims(); ++c)
                for (int l = 0; l < lanes; ++l) step_.out[std::int64_t{row[l]} * dims() + c] = floats_of(x(c))[l];
        }
    }

  protected:
    RowFloats& part(int which, int c) {
        if constexpr (D > 0) {
            return stack_[which][c];
        } else {
            return heap_[which][c];
        }
    }
    RowFloats& x(int c) { return part(0, c); }
    RowFloats& difference(int c) { return part(1, c); }
    RowFloats& sum(int c) { return part(2, c); }

    int dims() const { return D > 0 ? D : static_cast<int>(step_.dims); }

    // The row that draw number `draw` of edge sample s gives to the first lane.
    LOWDIM_INLINE std::int64_t negative_sample(std::int32_t s, std::int32_t draw) const {
        const auto per_edge = static_cast<std::uint32_t>(step_.params.negative_samples);
        const std::uint32_t sample = static_cast<std::uint32_t>(s) * per_edge + static_cast<std::uint32_t>(draw);
        const std::uint64_t word = mixed(key_ + sample * 0x85ebca6bu);
        return static_cast<std::int64_t>((word * static_cast<std::uint64_t>(step_.count)) >> 32);
    }

    // x minus the coordinates of the tails, and the squared distance.
    LOWDIM_INLINE RowFloats difference_to_rows(RowInts tails) {
        if constexpr (D == 2) {
            RowFloats first, second;
            gather_pairs(step_.tail_positions, tails, first, second);
            return difference_to(first, second);
        }
        RowFloats square{};
        for (int c = 0; c < dims(); ++c) {
            difference(c) = x(c) - gather(step_.tail_positions + c, tails * dims());
            square += difference(c) * difference(c);
        }
        return square;
    }

    // The same for a negative sample: each lane has the row after that of the lane before, or all have row `base`.
    LOWDIM_INLINE RowFloats difference_to_adjacent(std::int64_t base) {
        const float* from = step_.tail_positions + (base + first_in_block_) * dims();
        if (D == 2 && !step_.shared_negatives) {
            RowFloats first, second;
            load_pairs(from, first, second);
            return difference_to(first, second);
        }
        RowFloats square{};
        for (int c = 0; c < dims(); ++c) {
            difference(c) = x(c) - (step_.shared_negatives ? set_floats(from[c]) : gather(from + c, load_ints(lane_numbers) * dims()));
            square += difference(c) * difference(c);
        }
        return square;
    }

    LOWDIM_INLINE RowFloats difference_to(RowFloats first, RowFloats second) {
        difference(0) = x(0) - first;
        difference(1) = x(1) - second;
        return difference(0) * difference(0) + difference(1) * difference(1);
    }

    const UmapStep& step_;
    RowInts rows_;
    std::uint32_t key_;                // of the negative samples
    std::int32_t first_in_block_ = 0;  // of the first lane
    RowFloats density_p_{}, density_q_{};
    RowFloats stack_[3][D > 0 ? D : 1];  // coordinates, differences to another row, and a sum
    RowFloats* heap_[3];                 // the same, if D is 0
};

// Samples the edges of rows first … last for this epoch.
void sample_rows(const UmapStep& step, std::int64_t first, std::int64_t last, const UmapSamples& out) {
    std::int64_t taken = 0;
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = step.starts[i], end = step.starts[i + 1];
        const std::int32_t count = sample_edges(step.rates, begin, end, step.epoch_number, step.tails, out.tails + taken);
        if (step.density != nullptr)
            sample_edges(step.rates, begin, end, step.epoch_number, step.inverse_weights, out.inverse_weights + taken);
        out.counts[i - first] = count;
        taken += count;
    }
}

template <class Rows, bool dense>
void sgd_rows_of(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    for (std::int64_t i = first; i < last; i += row_lanes) {
        const std::int32_t end = std::min(step.samples[i], step.last_sample);
        if (step.first_sample >= end) break;  // later rows have no more samples
        Rows rows(step, i, store);
        const RowInts counts = load_ints(step.samples + i);
        for (std::int32_t s = step.first_sample; s < end; ++s) {
            const auto active = counts > s;
            const std::int64_t at = step.group_starts[i / row_lanes] + std::int64_t{s} * row_lanes;
            rows.attract(load_ints(step.sampled_tails + at), dense ? load_floats(step.sampled_inverse_weights + at) : RowFloats{}, active);
            if (step.repels) rows.repel(s, active);
        }
        rows.write(static_cast<int>(std::min<std::int64_t>(row_lanes, last - i)));
    }
}

// Moves the rows at first … last of the order by their samples.
template <int D>
void sgd_rows(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    if (step.density == nullptr) {
        sgd_rows_of<LaneRows<D, false>, false>(step, first, last, store);
    } else {
        sgd_rows_of<LaneRows<D, true>, true>(step, first, last, store);
    }
}

// Sums over the edges of rows begin … end of φ = 1 / (1 + a d^2b) and of φ d², for densMAP's local radii.
void densmap_sums(const UmapStep& step, std::int64_t begin_row, std::int64_t end_row, float* phi_sums, float* phi_distance_sums) {
    const std::int64_t dims = step.dims;
    for (std::int64_t i = begin_row; i < end_row; ++i) {
        float phi_sum = 0, phi_distance_sum = 0;
        for (std::int64_t p = step.starts[i]; p < step.starts[i + 1]; p += row_lanes) {
            float part[row_lanes] = {};
            const int here = static_cast<int>(std::min<std::int64_t>(row_lanes, step.starts[i + 1] - p));
            for (int l = 0; l < here; ++l)
                for (std::int64_t c = 0; c < dims; ++c) {
                    const float difference = step.head_positions[i * dims + c] - step.tail_positions[step.tails[p + l] * dims + c];
                    part[l] += difference * difference;
                }
            const RowFloats square = load_floats(part);
            RowFloats phi = 1.0f / (step.params.a * fast_pow(square, step.params.b) + 1.0f);
            for (int l = 0; l < here; ++l) {
                phi_sum += floats_of(phi)[l];
                phi_distance_sum += floats_of(phi)[l] * part[l];
            }
        }
        phi_sums[i] = phi_sum;
        phi_distance_sums[i] = phi_distance_sum;
    }
}

// Stochastic gradient descent on UMAP's cross-entropy, for some rows. A row is moved only by its owner. A sampled edge takes
// two half steps: in the first, its head is attracted to the tail and repelled by negative samples; in the second it is
// attracted once more, in the role of the tail. All rows take a half step at the same time and read the positions before it:
// moving one row after another through all of its edges would tear the embedding apart.
// Each vector lane holds one row, so results depend neither on the vector width nor on which rows share a vector: those with
// equally many samples do (step.row_order), or a quarter of the lanes would idle.
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
        key_ = mix_bits((step.shared_negatives ? RowUints{} : (RowUints)rows_) * set_uints(0x9e3779b9u) + set_uints(step.key));
        for (int c = 0; c < dims(); ++c) x(c) = gather(step.head_positions + c, rows_ * dims());
        if constexpr (dense) {
            density_p_ = gather(step.density, 2 * rows_);
            density_q_ = gather(step.density + 1, 2 * rows_);
        }
    }

    // Moves active lanes toward `tail`; `inverse_weights` are one over the weights of the edges.
    template <class Mask>
    LOWDIM_INLINE void attract(RowInts tail, RowFloats inverse_weights, const Mask& active) {
        const UmapParams& params = step_.params;
        const RowFloats square = difference_to(tail);
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
            const std::uint32_t sample =
                static_cast<std::uint32_t>(s) * static_cast<std::uint32_t>(params.negative_samples) + static_cast<std::uint32_t>(draw);
            const RowFloats gap =
                difference_to(scale_to_range(mix_bits(key_ + set_uints(sample * 0x85ebca6bu)), static_cast<std::uint32_t>(step_.count)));
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

  private:
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

    LOWDIM_INLINE RowFloats difference_to(RowInts rows) {
        if constexpr (D == 2) {
            RowFloats first, second;
            gather_pairs(step_.tail_positions, rows, first, second);
            difference(0) = x(0) - first;
            difference(1) = x(1) - second;
            return difference(0) * difference(0) + difference(1) * difference(1);
        }
        RowFloats square{};
        for (int c = 0; c < dims(); ++c) {
            difference(c) = x(c) - gather(step_.tail_positions + c, rows * dims());
            square += difference(c) * difference(c);
        }
        return square;
    }

    const UmapStep& step_;
    RowInts rows_;
    RowUints key_;
    RowFloats density_p_{}, density_q_{};
    RowFloats stack_[3][D > 0 ? D : 1];  // coordinates, differences to another row, and a sum
    RowFloats* heap_[3];                 // the same, if D is 0
};

// Samples the edges of rows first … last for this epoch: their tails, and their number per row.
void schedule_edges(const UmapStep& step, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = step.starts[i], end = step.starts[i + 1];
        step.samples[i] = sample_edges(step.rates, begin, end, step.epoch_number, step.tails, step.sampled_tails + begin);
        if (step.density != nullptr)
            sample_edges(step.rates, begin, end, step.epoch_number, step.inverse_weights, step.sampled_inverse_weights + begin);
    }
}

// One half step of the rows at first … last of the order: toward a neighbor and, in the first half, away from negative
// samples. Rows without a sample are copied.
template <int D, bool dense>
void sgd_half_step_group(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    const std::int32_t s = step.half_step / 2;
    LaneRows<D, dense> rows(step, first, store);
    const auto active = load_ints(step.ordered_samples + first) > s;
    const RowInts at = active ? load_ints(step.ordered_starts + first) + s : RowInts{};
    const RowInts tail = active ? bits_as_ints(gather(reinterpret_cast<const float*>(step.sampled_tails), at)) : RowInts{};
    rows.attract(tail, dense ? gather(step.sampled_inverse_weights, at) : RowFloats{}, active);
    if (step.half_step % 2 == 0) rows.repel(s, active);
    rows.write(static_cast<int>(std::min<std::int64_t>(row_lanes, last - first)));
}

template <int D>
void sgd_half_step(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    for (std::int64_t i = first; i < last; i += row_lanes) {
        const std::int64_t end = std::min<std::int64_t>(i + row_lanes, last);
        // Neither this row nor a later one moved in the half step before, so both buffers agree.
        if (step.half_step > 2 * step.ordered_samples[i]) break;
        if (step.density == nullptr) {
            sgd_half_step_group<D, false>(step, i, end, store);
        } else {
            sgd_half_step_group<D, true>(step, i, end, store);
        }
    }
}

// All steps of rows first … last against a fixed embedding.
template <int D, bool dense>
void sgd_fixed_group(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    LaneRows<D, dense> rows(step, first, store);
    const RowInts count = load_ints(step.ordered_samples + first), starts = load_ints(step.ordered_starts + first);
    for (std::int32_t s = 0; s < step.ordered_samples[first]; ++s) {
        const auto active = count > s;
        const RowInts at = active ? starts + s : RowInts{};
        const RowInts tail = active ? bits_as_ints(gather(reinterpret_cast<const float*>(step.sampled_tails), at)) : RowInts{};
        rows.attract(tail, dense ? gather(step.sampled_inverse_weights, at) : RowFloats{}, active);
        rows.repel(s, active);
    }
    rows.write(static_cast<int>(std::min<std::int64_t>(row_lanes, last - first)));
}

template <int D>
void sgd_fixed(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    for (std::int64_t i = first; i < last; i += row_lanes) {
        const std::int64_t end = std::min<std::int64_t>(i + row_lanes, last);
        if (step.density == nullptr) {
            sgd_fixed_group<D, false>(step, i, end, store);
        } else {
            sgd_fixed_group<D, true>(step, i, end, store);
        }
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

// UMAP's layout for some rows. A row is moved by its owner alone. A turn of an edge has two halves: in the first, its row
// is drawn to the neighbour and pushed away by rows drawn at random, in the second it is drawn once more, as the edge's
// other end. All rows take a half at the same time and read others where they were before it: moved one after another
// with all their turns, rows tear the map apart.
// A vector lane is a row of its own, so what happens to a row does not depend on how wide the vectors are.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

#if defined(__GNUC__) || defined(__clang__)
#define LOWDIM_INLINE inline __attribute__((always_inline))  // a call would spill the rows' places
#else
#define LOWDIM_INLINE inline
#endif

inline Reals clipped(Reals v) {
    v = v > 4.0f ? set_reals(4.0f) : v;
    return v < -4.0f ? set_reals(-4.0f) : v;
}

// An edge has its turn when its rate (2^32 for the heaviest), added at every tick, carries. Copies what the edges
// begin … end with a turn have in `from` to `to`; returns their number.
template <class T>
inline std::int32_t take_turns(const std::uint32_t* rates, std::int64_t begin, std::int64_t end, std::uint32_t tick, const T* from, T* to) {
    std::int32_t count = 0;
    std::int64_t p = begin;
#if defined(__AVX512F__)
    const __m512i ticks = _mm512_set1_epi32(static_cast<int>(tick));
    for (; p < end; p += 16) {
        const auto valid = static_cast<__mmask16>(end - p >= 16 ? 0xFFFFu : (1u << (end - p)) - 1u);
        const __m512i rate = _mm512_maskz_loadu_epi32(valid, rates + p);
        const __mmask16 turn = _mm512_mask_cmplt_epu32_mask(valid, _mm512_mullo_epi32(rate, ticks), rate);
        _mm512_mask_compressstoreu_epi32(to + count, turn, _mm512_maskz_loadu_epi32(turn, from + p));
        count += __builtin_popcount(turn);
    }
#endif
    for (; p < end; ++p) {
        to[count] = from[p];
        count += tick * rates[p] < rates[p];
    }
    return count;
}

// Rows that are moved at once, a lane each. D is the number of coordinates, or 0 if that is known at run time only;
// then they lie in `store`.
template <int D, bool dense>
class Movers {
  public:
    Movers(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) : step_(step) {
        const auto end = static_cast<std::int32_t>(last);
        rows_ = load_wholes(counting) + static_cast<std::int32_t>(first);
        rows_ = rows_ < end ? rows_ : load_wholes(counting) * 0 + (end - 1);
        if constexpr (D == 0) {
            for (int part = 0; part < 3; ++part) far_[part] = reinterpret_cast<Reals*>(store) + part * step.dims;
        }
        key_ = stirred((step.same_draws ? Words{} : (Words)rows_) * set_words(0x9e3779b9u) + set_words(step.key));
        for (int c = 0; c < dims(); ++c) x(c) = gather(step.heads + c, rows_ * dims());
        if constexpr (dense) {
            crowd_p_ = gather(step.crowding, 2 * rows_);
            crowd_q_ = gather(step.crowding + 1, 2 * rows_);
        }
    }

    // Towards `tail`, where `has`; `inverse` is one over the weight of the edge.
    template <class Mask>
    LOWDIM_INLINE void pull(Wholes tail, Reals inverse, const Mask& has) {
        const UmapForces& force = step_.forces;
        const Reals square = look(tail);
        const Reals p = power(square, force.b);
        const Reals grown = force.a * p + 1.0f;
        Reals pull = (-2.0f * force.a * force.b) * p / (square * grown);
        pull = square > 0.0f ? pull : Reals{};
        Reals spreading{};
        if constexpr (dense) {
            const Reals share = 1.0f / grown, slope = -0.5f * pull;
            Reals all_p = crowd_p_, all_q = crowd_q_;
            if (step_.crowding_of_others != nullptr) {
                all_p += gather(step_.crowding_of_others, 2 * tail);
                all_q += gather(step_.crowding_of_others + 1, 2 * tail);
            }
            spreading = 2.0f * share * ((1.0f - force.b * (1.0f - share)) * all_p + slope * all_q) * inverse;
        }
        for (int c = 0; c < dims(); ++c) {
            Reals change = clipped(pull * apart(c));
            if constexpr (dense) change += clipped(spreading * apart(c));
            x(c) += has ? step_.alpha * change : Reals{};
        }
    }

    // Away from rows drawn for turn s, where `has`.
    template <class Mask>
    LOWDIM_INLINE void push(std::int32_t s, const Mask& has) {
        const UmapForces& force = step_.forces;
        for (int c = 0; c < dims(); ++c) sum(c) = Reals{};
        for (std::int32_t draw = 0; draw < force.negatives; ++draw) {
            const std::uint32_t turn = static_cast<std::uint32_t>(s) * static_cast<std::uint32_t>(force.negatives) + static_cast<std::uint32_t>(draw);
            const Reals gap = look(scaled(stirred(key_ + set_words(turn * 0x85ebca6bu)), static_cast<std::uint32_t>(step_.count)));
            Reals push = (2.0f * force.repulsion * force.b) / ((gap + 0.001f) * (force.a * power(gap, force.b) + 1.0f));
            push = gap > 0.0f ? push : Reals{};
            for (int c = 0; c < dims(); ++c) sum(c) += clipped(push * apart(c));
        }
        for (int c = 0; c < dims(); ++c) x(c) += has ? step_.alpha * sum(c) : Reals{};
    }

    // Their places to `out`, one behind the other.
    void put(float* out, int lanes) {
        if (D == 2 && lanes == owners) {
            store_pairs(out, x(0), x(D > 1));
            return;
        }
        for (int c = 0; c < dims(); ++c)
            for (int l = 0; l < lanes; ++l) out[l * dims() + c] = begin(x(c))[l];
    }

  private:
    Reals& part(int which, int c) {
        if constexpr (D > 0) {
            return own_[which][c];
        } else {
            return far_[which][c];
        }
    }
    Reals& x(int c) { return part(0, c); }
    Reals& apart(int c) { return part(1, c); }
    Reals& sum(int c) { return part(2, c); }

    int dims() const { return D > 0 ? D : static_cast<int>(step_.dims); }

    LOWDIM_INLINE Reals look(Wholes who) {
        if constexpr (D == 2) {
            Reals first, second;
            gather_pairs(step_.others, who, first, second);
            apart(0) = x(0) - first;
            apart(1) = x(1) - second;
            return apart(0) * apart(0) + apart(1) * apart(1);
        }
        Reals square{};
        for (int c = 0; c < dims(); ++c) {
            apart(c) = x(c) - gather(step_.others + c, who * dims());
            square += apart(c) * apart(c);
        }
        return square;
    }

    const UmapStep& step_;
    Wholes rows_;
    Words key_;
    Reals crowd_p_{}, crowd_q_{};
    Reals own_[3][D > 0 ? D : 1];  // coordinates, differences to another row, and a sum
    Reals* far_[3];                // the same, if their number is not known here
};

// Which edges of rows first … last have their turn in this epoch: their tails, and how many.
void umap_turns(const UmapStep& step, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = step.starts[i], end = step.starts[i + 1];
        step.turns[i] = take_turns(step.rates, begin, end, step.tick, step.tails, step.turn_tails + begin);
        if (step.crowding != nullptr) take_turns(step.rates, begin, end, step.tick, step.inverse, step.turn_inverse + begin);
    }
}

// One half of a turn of rows first … last: to a neighbour, and in the first half away from others.
// Rows without it go over as they are.
template <int D, bool dense>
void umap_group_half(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    const std::int32_t s = step.half / 2;
    Movers<D, dense> movers(step, first, last, store);
    const auto has = load_wholes(step.turns + first) > s;
    const Wholes at = has ? load_wholes(step.firsts + first) + s : Wholes{};
    const Wholes tail = has ? as_wholes(gather(reinterpret_cast<const float*>(step.turn_tails), at)) : Wholes{};
    movers.pull(tail, dense ? gather(step.turn_inverse, at) : Reals{}, has);
    if (step.half % 2 == 0) movers.push(s, has);
    movers.put(step.out + first * step.dims, static_cast<int>(std::min<std::int64_t>(owners, last - first)));
}

template <int D>
void umap_half(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    for (std::int64_t i = first; i < last; i += owners) {
        const std::int64_t end = std::min<std::int64_t>(i + owners, last);
        std::int32_t most = 0;
        for (int l = 0; l < owners; ++l) most = std::max(most, step.turns[i + l]);
        if (step.half > 2 * most) continue;  // nobody moved in the half before, so both maps agree
        if (step.crowding == nullptr) {
            umap_group_half<D, false>(step, i, end, store);
        } else {
            umap_group_half<D, true>(step, i, end, store);
        }
    }
}

// All turns of rows first … last beside a map that stays as it is.
template <int D, bool dense>
void umap_group_beside(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    std::int32_t most = 0;
    for (int l = 0; l < owners; ++l) most = std::max(most, step.turns[first + l]);
    Movers<D, dense> movers(step, first, last, store);
    const Wholes count = load_wholes(step.turns + first), starts = load_wholes(step.firsts + first);
    for (std::int32_t s = 0; s < most; ++s) {
        const auto has = count > s;
        const Wholes at = has ? starts + s : Wholes{};
        const Wholes tail = has ? as_wholes(gather(reinterpret_cast<const float*>(step.turn_tails), at)) : Wholes{};
        movers.pull(tail, dense ? gather(step.turn_inverse, at) : Reals{}, has);
        movers.push(s, has);
    }
    movers.put(step.out + first * step.dims, static_cast<int>(std::min<std::int64_t>(owners, last - first)));
}

template <int D>
void umap_beside(const UmapStep& step, std::int64_t first, std::int64_t last, float* store) {
    for (std::int64_t i = first; i < last; i += owners) {
        const std::int64_t end = std::min<std::int64_t>(i + owners, last);
        if (step.crowding == nullptr) {
            umap_group_beside<D, false>(step, i, end, store);
        } else {
            umap_group_beside<D, true>(step, i, end, store);
        }
    }
}

// Sums over the edges of rows begin … end: shares φ = 1 / (1 + a d^2b), and φ d².
void umap_radii(const UmapStep& step, std::int64_t begin_row, std::int64_t end_row, float* shares, float* spreads) {
    const std::int64_t dims = step.dims;
    for (std::int64_t i = begin_row; i < end_row; ++i) {
        float share_sum = 0, spread_sum = 0;
        for (std::int64_t p = step.starts[i]; p < step.starts[i + 1]; p += owners) {
            float part[owners] = {};
            const int here = static_cast<int>(std::min<std::int64_t>(owners, step.starts[i + 1] - p));
            for (int l = 0; l < here; ++l)
                for (std::int64_t c = 0; c < dims; ++c) {
                    const float apart = step.heads[i * dims + c] - step.others[step.tails[p + l] * dims + c];
                    part[l] += apart * apart;
                }
            const Reals square = load_reals(part);
            Reals share = 1.0f / (step.forces.a * power(square, step.forces.b) + 1.0f);
            for (int l = 0; l < here; ++l) {
                share_sum += begin(share)[l];
                spread_sum += begin(share)[l] * part[l];
            }
        }
        shares[i] = share_sum;
        spreads[i] = spread_sum;
    }
}

#undef LOWDIM_INLINE

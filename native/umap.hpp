// One epoch of UMAP for some rows. A row is moved by its owner alone: it is drawn to the neighbours whose turn it is
// and pushed away by rows drawn at random, and reads others where they were when its block began.
// A vector lane is a row of its own, so what happens to a row does not depend on how wide the vectors are.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

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

// D is the number of coordinates, or 0 if that is known at run time only; then x lies in `store`.
template <int D, bool dense>
void umap_group(const UmapStep& step, std::int64_t first, std::int64_t last, const UmapScratch& scratch) {
    const int dims = D > 0 ? D : static_cast<int>(step.dims);
    const UmapForces& force = step.forces;
    std::int32_t row_of[owners], turns[owners], list_of[owners];
    std::int32_t most = 0;
    for (int l = 0; l < owners; ++l) {
        const std::int64_t place = std::min(first + l, last - 1), begin = step.starts[place];
        const std::int64_t end = first + l < last ? step.starts[place + 1] : begin;
        row_of[l] = step.order[place];
        list_of[l] = static_cast<std::int32_t>(l * scratch.pitch);
        turns[l] = take_turns(step.rates, begin, end, step.tick, step.tails, scratch.tails + list_of[l]);
        if constexpr (dense) take_turns(step.rates, begin, end, step.tick, step.inverse, scratch.inverse + list_of[l]);
        most = std::max(most, turns[l]);
    }
    const Wholes lists = load_wholes(list_of);
    const Wholes rows = load_wholes(row_of), count = load_wholes(turns);
    const Words key = stirred((step.same_draws ? Words{} : (Words)rows) * set_words(0x9e3779b9u) + set_words(step.key));
    Reals local[D > 0 ? D : 1], other[D > 0 ? D : 1];
    Reals* x = D > 0 ? local : reinterpret_cast<Reals*>(scratch.store);
    Reals* apart = D > 0 ? other : reinterpret_cast<Reals*>(scratch.store) + dims;
    Reals* sum = D > 0 ? nullptr : reinterpret_cast<Reals*>(scratch.store) + 2 * dims;
    Reals moved[D > 0 ? D : 1];
    if constexpr (D > 0) sum = moved;
    for (int c = 0; c < dims; ++c) x[c] = gather(step.heads + c, rows * dims);

    const auto look = [&](Wholes who) {
        Reals square{};
        if constexpr (D == 2) {
            Reals first, second;
            gather_pairs(step.others, who, first, second);
            apart[0] = x[0] - first;
            apart[1] = x[1] - second;
            return apart[0] * apart[0] + apart[1] * apart[1];
        }
        for (int c = 0; c < dims; ++c) {
            apart[c] = x[c] - gather(step.others + c, who * dims);
            square += apart[c] * apart[c];
        }
        return square;
    };
    Reals crowd_p{}, crowd_q{};
    if constexpr (dense) {
        crowd_p = gather(step.crowding, 2 * rows);
        crowd_q = gather(step.crowding + 1, 2 * rows);
    }
    for (std::int32_t s = 0; s < most; ++s) {
        const auto has = count > s;
        const Wholes here = has ? lists + s : lists;
        const Wholes tail = has ? as_wholes(gather(reinterpret_cast<const float*>(scratch.tails), here)) : Wholes{};
        for (std::int32_t again = 0; again < force.pulls; ++again) {
            const Reals square = look(tail);
            const Reals p = power(square, force.b);
            const Reals grown = force.a * p + 1.0f;
            Reals pull = (-2.0f * force.a * force.b) * p / (square * grown);
            pull = square > 0.0f ? pull : Reals{};
            Reals spreading{};
            if constexpr (dense) {
                const Reals share = 1.0f / grown, slope = -0.5f * pull;
                Reals all_p = crowd_p, all_q = crowd_q;
                if (step.crowding_of_others != nullptr) {
                    all_p += gather(step.crowding_of_others, 2 * tail);
                    all_q += gather(step.crowding_of_others + 1, 2 * tail);
                }
                spreading = 2.0f * share * ((1.0f - force.b * (1.0f - share)) * all_p + slope * all_q);
                spreading *= gather(scratch.inverse, here);
            }
            for (int c = 0; c < dims; ++c) {
                Reals change = clipped(pull * apart[c]);
                if constexpr (dense) change += clipped(spreading * apart[c]);
                x[c] += has ? step.alpha * change : Reals{};
            }
        }
        for (int c = 0; c < dims; ++c) sum[c] = Reals{};
        for (std::int32_t draw = 0; draw < force.negatives; ++draw) {
            const std::uint32_t turn = static_cast<std::uint32_t>(s) * static_cast<std::uint32_t>(force.negatives) + static_cast<std::uint32_t>(draw);
            const Reals gap = look(scaled(stirred(key + set_words(turn * 0x85ebca6bu)), static_cast<std::uint32_t>(step.count)));
            Reals push = (2.0f * force.repulsion * force.b) / ((gap + 0.001f) * (force.a * power(gap, force.b) + 1.0f));
            push = gap > 0.0f ? push : Reals{};
            for (int c = 0; c < dims; ++c) sum[c] += clipped(push * apart[c]);
        }
        for (int c = 0; c < dims; ++c) x[c] += has ? step.alpha * sum[c] : Reals{};
    }
    for (int c = 0; c < dims; ++c)
        for (int l = 0; l < owners && first + l < last; ++l) step.out[(first + l - step.out_first) * dims + c] = begin(x[c])[l];
}

// Rows order[first] … order[last - 1]; their places go to `out`, in this order.
template <int D>
void umap_rows(const UmapStep& step, std::int64_t first, std::int64_t last, const UmapScratch& scratch) {
    for (std::int64_t i = first; i < last; i += owners) {
        const std::int64_t end = std::min<std::int64_t>(i + owners, last);
        if (step.crowding == nullptr) {
            umap_group<D, false>(step, i, end, scratch);
        } else {
            umap_group<D, true>(step, i, end, scratch);
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

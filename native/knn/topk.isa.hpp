// Top-k lists: ascending by distance, ties by index. An unfilled entry holds (infinity, the largest index). The final list
// does not depend on the order of insertion.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

inline bool precedes(float a, std::int32_t i, float b, std::int32_t j) { return a < b || (a == b && i < j); }

#if defined(__AVX512F__)
// The lanes of a register at `begin` that hold entries of a list of k.
inline __mmask16 entry_lanes(std::int64_t begin, std::int64_t k) {
    return static_cast<__mmask16>(k - begin >= lanes ? 0xffffu : (1u << (k - begin)) - 1);
}

inline bool contains(const std::int32_t* indices, std::int64_t k, std::int32_t index) {
    unsigned found = 0;
    for (std::int64_t j = 0; j < k; j += lanes) {
        const __mmask16 here = entry_lanes(j, k);
        found |= _mm512_mask_cmpeq_epi32_mask(here, _mm512_maskz_loadu_epi32(here, indices + j), _mm512_set1_epi32(index));
    }
    return found != 0;
}

// How many entries have a smaller distance.
inline std::int64_t count_nearer(const float* distances, std::int64_t k, float distance) {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < k; j += lanes) {
        const __mmask16 here = entry_lanes(j, k);
        const __m512 entries = _mm512_maskz_loadu_ps(here, distances + j);
        count += std::popcount(static_cast<unsigned>(_mm512_mask_cmp_ps_mask(here, entries, _mm512_set1_ps(distance), _CMP_LT_OQ)));
    }
    return count;
}

// Moves the entries from `position` on one place back; the last is lost.
inline void shift_entries(float* distances, std::int32_t* indices, std::int64_t k, std::int64_t position) {
    for (std::int64_t j = (k - 1) / lanes * lanes; j >= 0 && j + lanes - 1 > position; j -= lanes) {
        const unsigned behind = position < j ? 0xffffu : 0xffffu << (position - j + 1);
        const __mmask16 moved = static_cast<__mmask16>(behind & entry_lanes(j, k));
        _mm512_mask_storeu_ps(distances + j, moved, _mm512_maskz_loadu_ps(moved, distances + j - 1));
        _mm512_mask_storeu_epi32(indices + j, moved, _mm512_maskz_loadu_epi32(moved, indices + j - 1));
    }
}
#elif defined(__AVX2__)
inline __m256i load_indices(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline void store_indices(std::int32_t* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

inline bool contains(const std::int32_t* indices, std::int64_t k, std::int32_t index) {
    const __m256i wanted = _mm256_set1_epi32(index);
    __m256i found = _mm256_setzero_si256();
    std::int64_t j = 0;
    for (; j + lanes <= k; j += lanes) found = _mm256_or_si256(found, _mm256_cmpeq_epi32(load_indices(indices + j), wanted));
    if (j < k && k >= lanes) {
        found = _mm256_or_si256(found, _mm256_cmpeq_epi32(load_indices(indices + k - lanes), wanted));
    } else {
        for (; j < k; ++j)
            if (indices[j] == index) return true;
    }
    return _mm256_testz_si256(found, found) == 0;
}

// How many entries have a smaller distance; k > lanes.
inline std::int64_t count_nearer(const float* distances, std::int64_t k, float distance) {
    const __m256 limit = _mm256_set1_ps(distance);
    const auto nearer = [&](std::int64_t j) {
        return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(distances + j), limit, _CMP_LT_OQ)));
    };
    std::int64_t count = 0, j = 0;
    for (; j + lanes <= k; j += lanes) count += std::popcount(nearer(j));
    return j == k ? count : count + std::popcount(nearer(k - lanes) >> (lanes - (k - j)));  // the last ones overlap with those before
}

// Moves the entries from `position` on one place back, the last ones first, so that what is read has not been moved yet;
// the last is lost. Entries 0 … 7 are read at first: the registers of the beginning may overlap with those behind. k > lanes.
inline void shift_entries(float* distances, std::int32_t* indices, std::int64_t k, std::int64_t position) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const auto move = [&](std::int64_t to, __m256 from_distances, __m256i from_indices) {
        const __m256i moved = _mm256_cmpgt_epi32(lane, _mm256_set1_epi32(static_cast<int>(position - to)));
        const __m256 kept = _mm256_loadu_ps(distances + to);
        _mm256_storeu_ps(distances + to, _mm256_blendv_ps(kept, from_distances, _mm256_castsi256_ps(moved)));
        store_indices(indices + to, _mm256_blendv_epi8(load_indices(indices + to), from_indices, moved));
    };
    const __m256 first_distances = _mm256_loadu_ps(distances);
    const __m256i first_indices = load_indices(indices);
    for (std::int64_t to = k - lanes; to > 1 && to + lanes - 1 > position; to -= lanes)
        move(to, _mm256_loadu_ps(distances + to - 1), load_indices(indices + to - 1));
    move(1, first_distances, first_indices);
}
#else
inline bool contains(const std::int32_t* indices, std::int64_t k, std::int32_t index) {
    int found = 0;
    for (std::int64_t j = 0; j < k; ++j) found |= indices[j] == index;
    return found != 0;
}
#endif

// Inserts (distance, index) if it is among the k nearest; returns its position, or -1.
inline std::int64_t insert_neighbor(float* distances, std::int32_t* indices, std::int64_t k, float distance, std::int32_t index) {
    std::int64_t position = k - 1;
    if (!precedes(distance, index, distances[position], indices[position])) return -1;
#if defined(__AVX2__)
    if (k > 8) {  // without branches that depend on the position, which nobody can predict
        position = count_nearer(distances, k, distance);
        while (distances[position] == distance && indices[position] < index) ++position;
        shift_entries(distances, indices, k, position);
        distances[position] = distance;
        indices[position] = index;
        return position;
    }
#endif
    for (; position > 0 && precedes(distance, index, distances[position - 1], indices[position - 1]); --position) {
        distances[position] = distances[position - 1];
        indices[position] = indices[position - 1];
    }
    distances[position] = distance;
    indices[position] = index;
    return position;
}

// The k smallest of each row of given distances; `first` is the index of column 0.
void select_nearest(const RowBlock<float>& block, const std::int32_t* self_ids, std::int32_t first, const NeighborLists& lists) {
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const float* row = block.row(i);
        float* distances = lists.distances + i * lists.k;
        std::int32_t* indices = lists.indices + i * lists.k;
        for (std::int64_t j = 0; j < block.columns; ++j) {
            const std::int32_t index = first + static_cast<std::int32_t>(j);
            if (row[j] <= distances[lists.k - 1] && (self_ids == nullptr || self_ids[i] != index))
                insert_neighbor(distances, indices, lists.k, row[j], index);
        }
    }
}

// Merges every entry of `more` (rows, k) into `lists` of the same rows.
void merge_lists(const NeighborLists& lists, const NeighborLists& more, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t j = 0; j < more.k; ++j)
            insert_neighbor(lists.distances + i * lists.k, lists.indices + i * lists.k, lists.k, more.distances[i * more.k + j],
                            more.indices[i * more.k + j]);
}

// Applies candidates found by other rows. Those that enter the list are flagged new; returns their number.
std::int64_t apply_updates(const NeighborLists& lists, std::uint8_t* is_new, const Update* updates, std::int64_t count) {
    std::int64_t accepted = 0;
    const std::int64_t k = lists.k;
    for (std::int64_t u = 0; u < count; ++u) {
        const Update& update = updates[u];
        float* distances = lists.distances + update.row * k;
        std::int32_t* indices = lists.indices + update.row * k;
        if (update.distance > distances[k - 1] || contains(indices, k, update.candidate)) continue;
        const std::int64_t position = insert_neighbor(distances, indices, k, update.distance, update.candidate);
        if (position < 0) continue;
        std::uint8_t* flags = is_new + update.row * k;
        for (std::int64_t j = k - 1; j > position; --j) flags[j] = flags[j - 1];
        flags[position] = 1;
        ++accepted;
    }
    return accepted;
}

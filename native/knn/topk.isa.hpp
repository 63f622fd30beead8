// Top-k lists: ascending by distance, ties by index. An unfilled entry holds (infinity, the largest index). The final list
// does not depend on the order of insertion.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

inline bool precedes(float a, std::int32_t i, float b, std::int32_t j) { return a < b || (a == b && i < j); }

// Inserts (distance, index) if it is among the k nearest; returns its position, or -1.
inline std::int64_t insert_neighbor(float* distances, std::int32_t* indices, std::int64_t k, float distance, std::int32_t index) {
    std::int64_t position = k - 1;
    if (!precedes(distance, index, distances[position], indices[position])) return -1;
    for (; position > 0 && precedes(distance, index, distances[position - 1], indices[position - 1]); --position) {
        distances[position] = distances[position - 1];
        indices[position] = indices[position - 1];
    }
    distances[position] = distance;
    indices[position] = index;
    return position;
}

inline bool contains(const std::int32_t* indices, std::int64_t k, std::int32_t index) {
    int found = 0;
    for (std::int64_t j = 0; j < k; ++j) found |= indices[j] == index;
    return found != 0;
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

// What the bindings of t-SNE share: embeddings in one to three dimensions and affinity graphs.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "bindings/run.hpp"

using Embedding = Dense<const float>;
using Values = Vector<const float>;

template <class Work>
void for_axes(std::size_t axes, const Work& work) {
    require(axes >= 1 && axes <= 3, "an embedding must have 1, 2 or 3 dimensions");
    if (axes == 1) work.template operator()<1>();
    if (axes == 2) work.template operator()<2>();
    if (axes == 3) work.template operator()<3>();
}

// Does not check the columns. tsne_step reads them at every iteration, and checking them each time would cost a tenth of it:
// check_affinities does so once for all iterations.
inline lowdim::AffinityGraph edges_of(const Starts& starts, const Ids& columns, const Values& values, std::size_t rows) {
    require(columns.shape(0) == values.shape(0), "not compressed sparse rows: every column needs a value");
    require_span(starts, rows, columns.shape(0));
    return {starts.data(), columns.data(), values.data()};
}

inline double in_order(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

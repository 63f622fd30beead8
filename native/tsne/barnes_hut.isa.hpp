// Repulsion in three dimensions by an octree (Barnes and Hut 1986): close points one by one, distant ones by node.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

inline void summarize_node(const OctreeView& tree, OctreeNode& node) {
    const double count = static_cast<double>(node.end - node.begin);
    const float* x[3] = {tree.axes, tree.axes + tree.n, tree.axes + 2 * tree.n};
    double center[3], longest = 0;
    for (int a = 0; a < 3; ++a) {
        double sum = 0;
        float low = x[a][node.begin], high = low;
#pragma omp simd reduction(+ : sum) reduction(min : low) reduction(max : high)
        for (std::int32_t i = node.begin; i < node.end; ++i) {
            sum += static_cast<double>(x[a][i]);
            low = x[a][i] < low ? x[a][i] : low;
            high = x[a][i] > high ? x[a][i] : high;
        }
        center[a] = sum / count;
        longest = std::max(longest, static_cast<double>(high) - static_cast<double>(low));
        node.center[a] = static_cast<float>(center[a]);
    }
    double s00 = 0, s11 = 0, s22 = 0, s01 = 0, s02 = 0, s12 = 0;
#pragma omp simd reduction(+ : s00, s11, s22, s01, s02, s12)
    for (std::int32_t i = node.begin; i < node.end; ++i) {
        const double d0 = static_cast<double>(x[0][i]) - center[0], d1 = static_cast<double>(x[1][i]) - center[1],
                     d2 = static_cast<double>(x[2][i]) - center[2];
        s00 += d0 * d0;
        s11 += d1 * d1;
        s22 += d2 * d2;
        s01 += d0 * d1;
        s02 += d0 * d2;
        s12 += d1 * d2;
    }
    const double sums[6] = {s00, s11, s22, s01, s02, s12};
    for (int c = 0; c < 6; ++c) node.covariance[c] = static_cast<float>(sums[c] / count);
    node.mass = static_cast<float>(count);
    node.squared_extent = static_cast<float>(longest * longest);
}

struct TreeSources {
    std::int64_t points, nodes;
};

// The sources that act on the points of a box: the points of close leaves, and nodes for all others.
inline TreeSources gather_sources(const OctreeView& tree, const float* low, const float* high, const TreeScratch& scratch) {
    TreeSources found = {0, 0};
    for (std::int64_t i = 0; i < tree.count;) {
        const OctreeNode& node = tree.nodes[i];
        float square = 0;
        for (int a = 0; a < 3; ++a) {
            const float gap = std::max(0.0f, std::max(low[a] - node.center[a], node.center[a] - high[a]));
            square += gap * gap;
        }
        if (node.squared_extent <= tree.opening * square + tree.min_extent) {
            float* column = scratch.nodes + found.nodes++;
            for (int a = 0; a < 3; ++a) column[a * tree.count] = node.center[a];
            column[3 * tree.count] = node.mass;
            for (int c = 0; c < 6; ++c) column[(4 + c) * tree.count] = node.covariance[c];
        } else if (node.next > i + 1) {
            ++i;
            continue;
        } else {
            for (int a = 0; a < 3; ++a)
                std::memcpy(scratch.points + a * tree.n + found.points, tree.axes + a * tree.n + node.begin,
                            static_cast<std::size_t>(node.end - node.begin) * sizeof(float));
            found.points += node.end - node.begin;
        }
        i = node.next;
    }
    return found;
}

// Adds the nodes' contribution to the force and to the sum. A node acts as all its points at their center of mass, with a
// second-order correction for their covariance C: a function f of the position gains ½ Σ C_ab ∂a ∂b f.
template <bool cauchy>
inline float repulsion_of_nodes(const float* point, const float* nodes, std::int64_t pitch, std::int64_t count, float dof, float* force) {
    const float p0 = point[0], p1 = point[1], p2 = point[2], inverse = 1.0f / dof, power = 0.5f * (dof + 1.0f);
    const float sum1 = power * inverse, sum2 = 2.0f * sum1 * (power + 1.0f) * inverse;
    const float force1 = (power + 1.0f) * inverse, force2 = 2.0f * force1 * (power + 2.0f) * inverse;
    float f0 = 0, f1 = 0, f2 = 0, sum = 0;
#pragma omp simd reduction(+ : f0, f1, f2, sum)
    for (std::int64_t j = 0; j < count; ++j) {
        const float* node = nodes + j;
        const float x0 = p0 - node[0], x1 = p1 - node[pitch], x2 = p2 - node[2 * pitch], mass = node[3 * pitch];
        const float c00 = node[4 * pitch], c11 = node[5 * pitch], c22 = node[6 * pitch];
        const float c01 = node[7 * pitch], c02 = node[8 * pitch], c12 = node[9 * pitch];
        const float q0 = c00 * x0 + c01 * x1 + c02 * x2, q1 = c01 * x0 + c11 * x1 + c12 * x2, q2 = c02 * x0 + c12 * x1 + c22 * x2;
        const float trace = c00 + c11 + c22, along = q0 * x0 + q1 * x1 + q2 * x2;
        const float b = 1.0f / (1.0f + inverse * (x0 * x0 + x1 * x1 + x2 * x2));
        const float w = mass * (cauchy ? b : std::pow(b, power));
        sum += w * (1.0f + b * (sum2 * along * b - sum1 * trace));
        const float radial = w * b * (1.0f + b * (force2 * along * b - force1 * trace)), correction = 2.0f * force1 * w * b * b;
        f0 += radial * x0 - correction * q0;
        f1 += radial * x1 - correction * q1;
        f2 += radial * x2 - correction * q2;
    }
    force[0] += f0;
    force[1] += f1;
    force[2] += f2;
    return sum;
}

// The force at a point of the box that the sources were gathered for; returns the sum of the kernel.
inline float repulsion_from_sources(const OctreeView& tree, const TreeSources& sources, const TreeScratch& scratch, const float* point,
                                    float dof, float* force) {
    const float from_points = repulsion_at<3>(point, scratch.points, tree.n, sources.points, dof, force);
    const float from_nodes = dof == 1.0f ? repulsion_of_nodes<true>(point, scratch.nodes, tree.count, sources.nodes, dof, force)
                                         : repulsion_of_nodes<false>(point, scratch.nodes, tree.count, sources.nodes, dof, force);
    return from_points + from_nodes;
}

// Forces on points begin … end of the tree, into the rows named by `order`; returns the sum of the kernel over all pairs of
// these points with others, without the points themselves.
inline double repulsion_barnes_hut(const OctreeView& tree, std::int64_t begin, std::int64_t end, float dof, const std::int32_t* order,
                                   const TreeScratch& scratch, float* forces) {
    float low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        const float* x = tree.axes + a * tree.n;
        low[a] = high[a] = x[begin];
        for (std::int64_t i = begin; i < end; ++i) {
            low[a] = std::min(low[a], x[i]);
            high[a] = std::max(high[a], x[i]);
        }
    }
    const TreeSources sources = gather_sources(tree, low, high, scratch);
    double total = 0;
    for (std::int64_t i = begin; i < end; ++i) {
        const float point[3] = {tree.axes[i], tree.axes[tree.n + i], tree.axes[2 * tree.n + i]};
        total += static_cast<double>(
                     repulsion_from_sources(tree, sources, scratch, point, dof, forces + 3 * static_cast<std::int64_t>(order[i]))) -
                 1.0;
    }
    return total;
}

// A regular mesh over an embedding in one or two dimensions: points are scattered to it, and fields gathered from it, by cubic
// B-splines.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// The first of the four nodes around u, and their weights. Points beyond the mesh count as on its edge.
inline std::int64_t spline(float u, std::int64_t cells, float* weights) {
    u = std::min(std::max(1.0f, u), static_cast<float>(cells) - 2.01f);
    const std::int64_t node = static_cast<std::int64_t>(u);
    const float t = u - static_cast<float>(node), s = 1.0f - t;
    weights[0] = s * s * s * (1.0f / 6);
    weights[1] = (t * t * (3.0f * t - 6.0f) + 4.0f) * (1.0f / 6);
    weights[2] = (s * s * (3.0f * s - 6.0f) + 4.0f) * (1.0f / 6);
    weights[3] = t * t * t * (1.0f / 6);
    return node - 1;
}

template <int D>
struct Stencil {
    std::int64_t first[D];
    float weights[D][4];

    Stencil(const Mesh& mesh, const float* point) {
        for (int a = 0; a < D; ++a) first[a] = spline((point[a] - mesh.origin[a]) * mesh.inverse_spacing, mesh.cells[a], weights[a]);
    }
};

// The node of each point along the first axis, by which points are sorted.
template <int D>
void first_nodes(const Mesh& mesh, const float* y, std::int64_t begin, std::int64_t end, std::int32_t* nodes) {
    float ignored[4];
    for (std::int64_t i = begin; i < end; ++i)
        nodes[i] = static_cast<std::int32_t>(spline((y[i * D] - mesh.origin[0]) * mesh.inverse_spacing, mesh.cells[0], ignored));
}

// Scatters unit masses at points begin … end to slabs low … high of the first axis only.
template <int D>
void scatter_to_mesh(const Mesh& mesh, const float* y, std::int64_t begin, std::int64_t end, std::int64_t low, std::int64_t high,
                     float* grid) {
    const std::int64_t row = mesh.cells[D - 1];
    for (std::int64_t i = begin; i < end; ++i) {
        const Stencil<D> at(mesh, y + i * D);
        for (std::int64_t s = 0; s < 4; ++s) {
            const std::int64_t slab = at.first[0] + s;
            if (slab < low || slab >= high) continue;
            if constexpr (D == 1) {
                grid[slab] += at.weights[0][s];
            } else {
                float* target = grid + slab * row + at.first[1];
                for (int l = 0; l < 4; ++l) target[l] += at.weights[0][s] * at.weights[1][l];
            }
        }
    }
}

// The force at one point.
template <int D>
inline void force_at(const Mesh& mesh, const MeshFields& fields, const float* point, float* out) {
    const Stencil<D> at(mesh, point);
    for (int f = 0; f < D; ++f) {
        const float* field = fields.values + f * fields.field + at.first[D - 1];
        float sums[4] = {0, 0, 0, 0};
        for (std::int64_t s = 0; s < (D > 1 ? 4 : 1); ++s) {
            const float weight = D > 1 ? at.weights[0][s] : 1.0f;
            const float* source = field + (D > 1 ? at.first[0] + s : 0) * fields.row;
            for (int l = 0; l < 4; ++l) sums[l] += weight * source[l];
        }
        out[f] = (sums[0] * at.weights[D - 1][0] + sums[1] * at.weights[D - 1][1]) +
                 (sums[2] * at.weights[D - 1][2] + sums[3] * at.weights[D - 1][3]);
    }
}

// Forces at rows begin … end.
template <int D>
void gather_from_mesh(const Mesh& mesh, const MeshFields& fields, const float* y, std::int64_t begin, std::int64_t end, float* forces) {
    for (std::int64_t i = begin; i < end; ++i) force_at<D>(mesh, fields, y + i * D, forces + i * D);
}

// For some rows of the density's spectrum: out_f = i · spectrum_f · density for every force. Returns the part of these rows in
// the sum of the kernel over all pairs of points, which by Parseval's theorem is the sum of the kernel's spectrum, the first
// one, times |density|². The transform of real numbers holds half of the columns; the others are their mirror images.
inline double multiply_spectra(const Spectra& all, std::int64_t begin_row, std::int64_t end_row, float* out) {
    const std::int64_t columns = all.columns, begin = begin_row * columns, end = end_row * columns;
    for (std::int64_t f = 0; f < all.forces; ++f) {
        const float* factor = all.spectra + (f + 1) * all.count;
        float* target = out + f * 2 * all.count;
        for (std::int64_t i = begin; i < end; ++i) {
            target[2 * i] = -factor[i] * all.density[2 * i + 1];
            target[2 * i + 1] = factor[i] * all.density[2 * i];
        }
    }
    const auto power = [&](std::int64_t i) {
        const auto real = static_cast<double>(all.density[2 * i]), imaginary = static_cast<double>(all.density[2 * i + 1]);
        return static_cast<double>(all.spectra[i]) * (real * real + imaginary * imaginary);
    };
    double sum = 0;
    for (std::int64_t row = begin; row < end; row += columns) {
        double both = 0;
#pragma omp simd reduction(+ : both)
        for (std::int64_t i = row; i < row + columns; ++i) both += power(i);
        sum += 2 * both - power(row) - (all.even ? power(row + columns - 1) : 0.0);
    }
    return sum;
}

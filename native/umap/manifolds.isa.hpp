// UMAP's descent in output spaces other than the Euclidean one. Where LaneRows takes the difference of two positions, a
// manifold has the logarithmic map: the tangent vector at one point from which the geodesic to the other sets out, as long
// as their distance. A step follows the exponential map, and forces are clipped by their length, so that nothing depends on
// the coordinates: neither the poles of the sphere nor the rim of the hyperbolic plane are special.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

inline RowFloats square_roots(RowFloats v) {
    for (int l = 0; l < row_lanes; ++l) floats_of(v)[l] = std::sqrt(floats_of(v)[l]);
    return v;
}

// asin(√s) / √s for s from 0 to 1, with a relative error below 5e-7: a polynomial up to 1/4, half angles beyond.
inline RowFloats asin_ratio(RowFloats s) {
    const auto small = s <= 0.25f;
    const RowFloats root = square_roots(s), at = small ? s : 0.5f * (1.0f - root);
    RowFloats p = set_floats(0.03780636191368103f);
    p = p * at + 0.014198827557265759f;
    p = p * at + 0.03188414126634598f;
    p = p * at + 0.04450524225831032f;
    p = p * at + 0.0750059187412262f;
    p = p * at + 0.16666656732559204f;
    p = p * at + 1.0f;
    return small ? p : (1.5707963267948966f - 2.0f * square_roots(at) * p) / root;
}

// asinh(√s) / √s for s >= 0.
inline RowFloats asinh_ratio(RowFloats s) {
    const RowFloats root = square_roots(s), w = root + s / (1.0f + square_roots(1.0f + s));  // asinh = log(1 + w)
    const RowInts bits = bits_as_ints(1.0f + w);
    const auto small = w <= 1.0f;
    const RowFloats exponent = small ? RowFloats{} : to_floats((bits >> 23) - 127);
    const RowFloats fraction = bits_as_floats((bits & (RowInts)set_uints(0x7fffffu)) | (RowInts)set_uints(0x3f800000u)) - 1.0f;
    const RowFloats value = exponent * 0.69314718055994531f + log_one_plus<float>(small ? w : fraction);
    return s > 1e-12f ? value / root : set_floats(1.0f);
}

// Rows of one vector, as LaneRows; `space` says what their coordinates are (UmapSpace).
template <int D, int space>
class ManifoldRows : public LaneRows<D, false> {
    using Base = LaneRows<D, false>;
    using Base::difference, Base::dims, Base::step_, Base::sum, Base::x;
    static constexpr bool curved = space != space_manhattan;
    static constexpr float curvature = space == space_haversine ? 1.0f : -1.0f;
    static constexpr float max_step = 1.0f;  // of a move in a curved space: less than a third of the way around the sphere

  public:
    using Base::Base;

    template <class Mask>
    LOWDIM_INLINE void attract(RowInts tail, RowFloats, const Mask& active) {
        const UmapParams& params = step_.params;
        const RowFloats square = logarithm(Base::difference_to_rows(tail));
        const RowFloats p = fast_pow(square, params.b);
        clear();
        add((-2.0f * params.a * params.b) * p / (square * (params.a * p + 1.0f)), square);
        move(active);
    }

    template <class Mask>
    LOWDIM_INLINE void repel(std::int32_t s, const Mask& active) {
        const UmapParams& params = step_.params;
        clear();
        for (std::int32_t draw = 0; draw < params.negative_samples; ++draw) {
            const RowFloats square = logarithm(Base::difference_to_adjacent(Base::negative_sample(s, draw)));
            add((2.0f * params.repulsion * params.b) / ((square + 0.001f) * (params.a * fast_pow(square, params.b) + 1.0f)), square);
        }
        move(active);
    }

  private:
    void clear() {
        for (int c = 0; c < dims(); ++c) sum(c) = RowFloats{};
    }

    // Adds a multiple of the difference, whose squared length is given; a force is at most 4 long.
    LOWDIM_INLINE void add(RowFloats force, RowFloats square) {
        const RowFloats limit = 4.0f / square_roots(square);
        force = force > limit ? limit : force;
        force = force < -limit ? -limit : force;
        force = square > 0.0f ? force : RowFloats{};
        for (int c = 0; c < dims(); ++c) sum(c) += force * difference(c);
    }

    // From the differences of coordinates, and the sum of their squares, to the tangent vector at x that points away from the
    // other point and is as long as their distance, whose square is returned.
    LOWDIM_INLINE RowFloats logarithm(RowFloats square) {
        if constexpr (!curved) {
            RowFloats distance{};
            for (int c = 0; c < dims(); ++c) distance += difference(c) > 0.0f ? difference(c) : -difference(c);
            for (int c = 0; c < dims(); ++c) {
                const RowFloats way = difference(c) > 0.0f ? distance : -distance;
                difference(c) = difference(c) == 0.0f ? RowFloats{} : way;
            }
            return distance * distance;
        } else {
            const RowFloats chord = squared_chord(square), s = 0.25f * chord;
            const RowFloats ratio = curvature > 0 ? asin_ratio(s) : asinh_ratio(s);  // half the distance over half the chord
            const RowFloats cosine = 1.0f - curvature * s;                           // its square, of half the distance
            const RowFloats stretch = ratio / square_roots(cosine > 1e-6f ? cosine : set_floats(1e-6f));
            for (int c = 0; c < dims(); ++c) difference(c) = stretch * (difference(c) - (0.5f * curvature) * chord * x(c));
            return chord * ratio * ratio;
        }
    }

    // The squared difference in the space around the manifold: |x - y|² on the sphere and, on the hyperboloid, |x - y|² less
    // the square of t - s, the difference of both first coordinates t = √(1 + |x|²) and s. That would cancel far from the
    // origin, so it is computed from the angle between x and y and from their lengths.
    LOWDIM_INLINE RowFloats squared_chord(RowFloats square) {
        if constexpr (space == space_haversine) return square < 4.0f ? square : set_floats(4.0f);
        RowFloats own{}, other{}, angle{};
        for (int c = 0; c < dims(); ++c) {
            const RowFloats y = x(c) - difference(c);
            own += x(c) * x(c), other += y * y;
        }
        const RowFloats radius = square_roots(own), from = square_roots(other), lean = radius - from;
        const RowFloats inverse = inverse_or_zero(radius), from_inverse = inverse_or_zero(from);
        for (int c = 0; c < dims(); ++c) {
            const RowFloats turn = x(c) * inverse - (x(c) - difference(c)) * from_inverse;
            angle += turn * turn;
        }
        const RowFloats firsts = square_roots((1.0f + own) * (1.0f + other));
        return radius * from * angle + 2.0f * lean * lean / (1.0f + firsts + radius * from);
    }

    static LOWDIM_INLINE RowFloats inverse_or_zero(RowFloats v) { return v > 0.0f ? 1.0f / v : RowFloats{}; }

    // The squared length of the tangent vector that was summed; on the hyperboloid, what leads away from the origin counts
    // less than what leads around it.
    LOWDIM_INLINE RowFloats squared_length() {
        RowFloats square{}, own{}, product{};
        for (int c = 0; c < dims(); ++c) square += sum(c) * sum(c), own += x(c) * x(c), product += x(c) * sum(c);
        if constexpr (space == space_haversine) return square;
        const RowFloats outward = product * inverse_or_zero(own);
        square = outward * outward * (own / (1.0f + own));
        for (int c = 0; c < dims(); ++c) {
            const RowFloats around = sum(c) - outward * x(c);
            square += around * around;
        }
        return square;
    }

    // Moves active lanes by alpha times the sum: along a geodesic, or straight on.
    template <class Mask>
    LOWDIM_INLINE void move(const Mask& active) {
        if constexpr (!curved) {
            for (int c = 0; c < dims(); ++c) x(c) += active ? step_.alpha * sum(c) : RowFloats{};
        } else {
            const RowFloats length = step_.alpha * square_roots(squared_length());
            const auto far = length > max_step;
            const RowFloats scale = far ? step_.alpha * max_step / length : set_floats(step_.alpha);
            const RowFloats t = -curvature * (far ? set_floats(max_step * max_step) : length * length);
            // cos and sin(l) / l of the length l or, on the hyperboloid, cosh and sinh(l) / l: their series in ∓l²
            const RowFloats cosine = 1.0f + t * (1 / 2.0f + t * (1 / 24.0f + t * (1 / 720.0f + t * (1 / 40320.0f))));
            const RowFloats sine = 1.0f + t * (1 / 6.0f + t * (1 / 120.0f + t * (1 / 5040.0f + t * (1 / 362880.0f))));
            RowFloats norm{};
            for (int c = 0; c < dims(); ++c) {
                sum(c) = cosine * x(c) + sine * scale * sum(c);
                norm += sum(c) * sum(c);
            }
            // back onto the sphere, which rounding leaves; on the hyperboloid the first coordinate follows from the others
            const RowFloats shrink = space == space_haversine ? 1.0f / square_roots(norm) : set_floats(1.0f);
            for (int c = 0; c < dims(); ++c) x(c) = active ? shrink * sum(c) : x(c);
        }
    }
};

// Small symmetric matrices, one per row of the data, in batches of eight: entry (a, b) of the eight is contiguous, so every
// step of a factorization is one vector operation.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr int batch = matrices_per_batch;

// out (k, k) = (x_a - c) · (x_b - c) in double; `differences` is scratch for k rows.
template <class T>
void local_gram(const RowBlock<T>& x, const T* center, const std::int32_t* members, std::int64_t k, double* differences, double* out) {
    const std::int64_t d = x.columns;
    for (std::int64_t a = 0; a < k; ++a) {
        const T* row = x.row(members[a]);
        double* target = differences + a * d;
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j) target[j] = static_cast<double>(row[j]) - static_cast<double>(center[j]);
    }
    for (std::int64_t a = 0; a < k; ++a) {
        const double* u = differences + a * d;
        std::int64_t b = 0;
        for (; b + 3 <= a; b += 4) {  // four at a time: u is read once for them
            const double *v0 = differences + b * d, *v1 = v0 + d, *v2 = v1 + d, *v3 = v2 + d;
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
            for (std::int64_t j = 0; j < d; ++j) {
                s0 += u[j] * v0[j];
                s1 += u[j] * v1[j];
                s2 += u[j] * v2[j];
                s3 += u[j] * v3[j];
            }
            const double sums[4] = {s0, s1, s2, s3};
            for (int c = 0; c < 4; ++c) out[a * k + b + c] = out[(b + c) * k + a] = sums[c];
        }
        for (; b <= a; ++b) {
            const double* v = differences + b * d;
            double s = 0;
#pragma omp simd reduction(+ : s)
            for (std::int64_t j = 0; j < d; ++j) s += u[j] * v[j];
            out[a * k + b] = out[b * k + a] = s;
        }
    }
}

// Interleaves `count` ≤ 8 matrices (size values each); unused lanes repeat the last one.
inline void interleave(const double* from, std::int64_t count, std::int64_t size, double* to) {
    for (int l = 0; l < batch; ++l) {
        const double* source = from + (l < count ? l : count - 1) * size;
        for (std::int64_t e = 0; e < size; ++e) to[e * batch + l] = source[e];
    }
}

// Whether the entries off the diagonal are negligible in all matrices of the batch.
LOWDIM_INLINE bool is_diagonal(const double* A, std::int64_t k) {
    double off[batch] = {}, all[batch] = {};
    for (std::int64_t a = 0; a < k; ++a)
        for (std::int64_t b = 0; b < k; ++b)
#pragma omp simd
            for (int l = 0; l < batch; ++l) {
                const double square = A[(a * k + b) * batch + l] * A[(a * k + b) * batch + l];
                all[l] += square;
                off[l] += a == b ? 0.0 : square;
            }
    bool diagonal = true;
    for (int l = 0; l < batch; ++l) diagonal = diagonal && !(off[l] > 1e-31 * all[l]);
    return diagonal;
}

// The Jacobi rotation that annihilates entry (p, q) of A, accumulated in V.
LOWDIM_INLINE void jacobi_rotate(double* A, double* V, std::int64_t k, std::int64_t p, std::int64_t q) {
    double c[batch], s[batch], change[batch];
    double *pp = A + (p * k + p) * batch, *qq = A + (q * k + q) * batch, *pq = A + (p * k + q) * batch;
#pragma omp simd
    for (int l = 0; l < batch; ++l) {
        const double half = pq[l] == 0 ? 1.0 : 2 * pq[l];
        const double tau = (qq[l] - pp[l]) / half;
        const double size = std::fabs(tau) + std::sqrt(1 + tau * tau);
        const double t = pq[l] == 0 ? 0.0 : (tau < 0 ? -1.0 : 1.0) / size;
        c[l] = 1 / std::sqrt(1 + t * t);
        s[l] = t * c[l];
        change[l] = t * pq[l];
    }
    double first[batch], second[batch];
    for (int l = 0; l < batch; ++l) {
        first[l] = pp[l] - change[l];
        second[l] = qq[l] + change[l];
    }
    double *row_p = A + p * k * batch, *row_q = A + q * k * batch;
    double *vec_p = V + p * k * batch, *vec_q = V + q * k * batch;
    for (std::int64_t r = 0; r < k; ++r) {
        double *ap = row_p + r * batch, *aq = row_q + r * batch;
        double *vp = vec_p + r * batch, *vq = vec_q + r * batch;
        double *column_p = A + (r * k + p) * batch, *column_q = A + (r * k + q) * batch;
        double new_p[batch], new_q[batch];
#pragma omp simd
        for (int l = 0; l < batch; ++l) {
            new_p[l] = c[l] * ap[l] - s[l] * aq[l];
            new_q[l] = s[l] * ap[l] + c[l] * aq[l];
            const double x = vp[l], y = vq[l];
            vp[l] = c[l] * x - s[l] * y;
            vq[l] = s[l] * x + c[l] * y;
        }
#pragma omp simd
        for (int l = 0; l < batch; ++l) {
            ap[l] = column_p[l] = new_p[l];
            aq[l] = column_q[l] = new_q[l];
        }
    }
    double* qp = A + (q * k + p) * batch;
    for (int l = 0; l < batch; ++l) {
        pp[l] = first[l];
        qq[l] = second[l];
        pq[l] = qp[l] = 0;
    }
}

// Eigenvalues on the diagonal of A, eigenvectors in the rows of V, by cyclic Jacobi rotations.
inline void jacobi_eigen(double* A, double* V, std::int64_t k) {
    for (std::int64_t e = 0; e < k * k; ++e)
        for (int l = 0; l < batch; ++l) V[e * batch + l] = e % (k + 1) == 0 ? 1.0 : 0.0;
    for (int sweep = 0; sweep < 40; ++sweep) {
        if (is_diagonal(A, k)) return;
        for (std::int64_t p = 0; p + 1 < k; ++p)
            for (std::int64_t q = p + 1; q < k; ++q) jacobi_rotate(A, V, k, p, q);
    }
}

// The Cholesky factor of A in its lower triangle. Pivots at or below `floor` mark a matrix as singular.
LOWDIM_INLINE void cholesky(double* A, std::int64_t k, const double* floor, bool* singular) {
    for (std::int64_t a = 0; a < k; ++a) {
        for (std::int64_t b = 0; b <= a; ++b) {
            double sum[batch];
            const double *ra = A + a * k * batch, *rb = A + b * k * batch;
            for (int l = 0; l < batch; ++l) sum[l] = ra[b * batch + l];
            for (std::int64_t j = 0; j < b; ++j)
#pragma omp simd
                for (int l = 0; l < batch; ++l) sum[l] -= ra[j * batch + l] * rb[j * batch + l];
            double* target = A + (a * k + b) * batch;
            if (a == b) {
                for (int l = 0; l < batch; ++l) {
                    singular[l] = singular[l] || !(sum[l] > floor[l]);
                    target[l] = std::sqrt(sum[l] > floor[l] ? sum[l] : 1.0);
                }
            } else {
#pragma omp simd
                for (int l = 0; l < batch; ++l) target[l] = sum[l] / rb[b * batch + l];
            }
        }
    }
}

// u = A⁻¹ 1 from the Cholesky factor of A.
LOWDIM_INLINE void cholesky_solve_ones(const double* A, std::int64_t k, double* u) {
    for (std::int64_t a = 0; a < k; ++a)
        for (int l = 0; l < batch; ++l) {
            double sum = 1;
            for (std::int64_t j = 0; j < a; ++j) sum -= A[(a * k + j) * batch + l] * u[j * batch + l];
            u[a * batch + l] = sum / A[a * (k + 1) * batch + l];
        }
    for (std::int64_t a = k; a-- > 0;)
        for (int l = 0; l < batch; ++l) {
            double sum = u[a * batch + l];
            for (std::int64_t j = a + 1; j < k; ++j) sum -= A[(j * k + a) * batch + l] * u[j * batch + l];
            u[a * batch + l] = sum / A[a * (k + 1) * batch + l];
        }
}

// u = (G₊ + ridge)⁻¹ 1 for the singular matrices, from eigenvalues (diagonal of A) and eigenvectors V of G; negative
// eigenvalues are clipped.
LOWDIM_INLINE void eigen_solve_ones(const double* A, const double* V, std::int64_t count, std::int64_t k, const bool* singular,
                                    const double* ridge, const double* floor, double* u) {
    for (int l = 0; l < count; ++l) {
        if (!singular[l]) continue;
        for (std::int64_t a = 0; a < k; ++a) u[a * batch + l] = 0;
        for (std::int64_t e = 0; e < k; ++e) {
            const double value = A[e * (k + 1) * batch + l];
            double sum = 0;
            for (std::int64_t a = 0; a < k; ++a) sum += V[(e * k + a) * batch + l];
            const double coefficient = sum / ((value > 0 ? value : 0.0) + (ridge[l] > floor[l] ? ridge[l] : floor[l]));
            for (std::int64_t a = 0; a < k; ++a) u[a * batch + l] += coefficient * V[(e * k + a) * batch + l];
        }
    }
}

// For up to eight matrices G: u solves (G + ridge) u = 1 by Cholesky, and w = u / Σu. If a pivot vanishes (no ridge, or a
// Gram matrix of non-Euclidean distances), negative eigenvalues are clipped first. `scratch`: 2 k k + 2 k batches.
inline void reconstruction_weights(const double* grams, std::int64_t count, std::int64_t k, double reg, double* weights, double* scratch) {
    double *A = scratch, *u = A + k * k * batch, *V = u + 2 * k * batch;
    double ridge[batch], floor[batch];
    bool singular[batch] = {};
    interleave(grams, count, k * k, A);
    for (int l = 0; l < batch; ++l) {
        double trace = 0;
        for (std::int64_t a = 0; a < k; ++a) trace += A[a * (k + 1) * batch + l];
        ridge[l] = trace > 0 ? reg * trace : (reg > 0 ? reg : 1.0);
        floor[l] = trace > 0 ? 1e-14 * trace : 0.0;
        for (std::int64_t a = 0; a < k; ++a) A[a * (k + 1) * batch + l] += ridge[l];
    }
    cholesky(A, k, floor, singular);
    cholesky_solve_ones(A, k, u);
    bool any = false;
    for (int l = 0; l < count; ++l) any = any || singular[l];
    if (any) {
        interleave(grams, count, k * k, A);
        jacobi_eigen(A, V, k);
        eigen_solve_ones(A, V, count, k, singular, ridge, floor, u);
    }
    for (int l = 0; l < count; ++l) {
        double total = 0;
        for (std::int64_t a = 0; a < k; ++a) total += u[a * batch + l];
        for (std::int64_t a = 0; a < k; ++a) weights[l * k + a] = u[a * batch + l] / total;
    }
}

// Descending eigenvalues (count, k) and eigenvectors in rows (count, k, k) of up to eight matrices. `scratch`: 2 k k batches.
inline void batched_eigh(const double* grams, std::int64_t count, std::int64_t k, double* values, double* vectors, double* scratch) {
    double *A = scratch, *V = A + k * k * batch;
    interleave(grams, count, k * k, A);
    jacobi_eigen(A, V, k);
    for (int l = 0; l < count; ++l) {
        double* spectrum = values + l * k;
        double* rows = vectors + l * k * k;
        for (std::int64_t e = 0; e < k; ++e) {  // insertion sort: equal values keep their order
            const double value = A[e * (k + 1) * batch + l];
            std::int64_t position = e;
            for (; position > 0 && spectrum[position - 1] < value; --position) {
                spectrum[position] = spectrum[position - 1];
                std::copy(rows + (position - 1) * k, rows + position * k, rows + position * k);
            }
            spectrum[position] = value;
            for (std::int64_t a = 0; a < k; ++a) rows[position * k + a] = V[(e * k + a) * batch + l];
        }
    }
}

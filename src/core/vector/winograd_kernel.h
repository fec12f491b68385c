/* SPDX-License-Identifier: MIT */
/* The maps of winograd.h for one instruction set and one element type; a part of tile_kernel.h,
 * which has its macros. */

/* Length of the pieces in which the vectors are mapped: the intermediate results of a piece stay in
 * the nearest cache. A multiple of all lanes. */
#define CHUNK 128

/* sum + factor x, or factor x alone if there are no terms yet (`any` false). */
static inline __attribute__((always_inline)) TARGET VECTOR KERNEL(plus)(const bool any, VECTOR sum,
                                                                        const double factor,
                                                                        VECTOR x)
{
    if (!any) {
        return factor == 1 ? x : (VECTOR)(SPLAT((ELEMENT)factor) * x);
    }
    if (factor == 1) {
        return sum + x;
    }
    return factor == -1 ? (VECTOR)(sum - x) : (VECTOR)FMA(SPLAT((ELEMENT)factor), x, sum);
}

/* out_i = sum_k M_ik in_k (M_ki if `turned`), or out_i += that sum if `add`, for vectors of n
 * numbers. All loops except the one over vectors are unrolled, and zeros of M cost nothing. */
static inline __attribute__((always_inline)) TARGET void
KERNEL(combine)(const int rows, const int columns, const double *M, const bool turned,
                const bool add, int64_t n, const ELEMENT *const *in, ELEMENT *const *out)
{
    for (int64_t e = 0; e < n; e += LANES) {
        VECTOR x[SALI_WINOGRAD_POINTS];
        UNROLL
        for (int k = 0; k < columns; k++) {
            x[k] = KERNEL(load)(in[k] + e);
        }
        UNROLL
        for (int i = 0; i < rows; i++) {
            VECTOR sum = { 0 };
            bool any = false;
            UNROLL
            for (int k = 0; k < columns; k++) {
                const double factor = turned ? M[k * rows + i] : M[i * columns + k];
                if (factor != 0) {
                    sum = KERNEL(plus)(any, sum, factor, x[k]);
                    any = true;
                }
            }
            if (add) {
                sum = KERNEL(load)(out[i] + e) + sum;
            }
            memcpy(out[i] + e, &sum, sizeof sum);
        }
    }
}

/* Y = M X M' (M transposed if `turned`), or Y += if `add`: M is applied to the columns of X first,
 * then to the rows of the result. */
static inline __attribute__((always_inline)) TARGET void
KERNEL(map)(const int rows, const int columns, const double *M, const bool turned, const bool add,
            int64_t n, const void *const *in, void *const *out)
{
    static const ELEMENT zeros[CHUNK];
    ELEMENT half[SALI_WINOGRAD_POINTS * SALI_WINOGRAD_POINTS][CHUNK], nowhere[CHUNK];
    const ELEMENT *from[SALI_WINOGRAD_POINTS];
    ELEMENT *to[SALI_WINOGRAD_POINTS];
    if (add) {
        memset(nowhere, 0, sizeof nowhere);
    }
    for (int64_t e = 0; e < n; e += CHUNK) {
        int64_t length = n - e < CHUNK ? n - e : CHUNK;
        for (int j = 0; j < columns; j++) {
            for (int k = 0; k < columns; k++) {
                const ELEMENT *x = in[k * columns + j];
                from[k] = x ? x + e : zeros;
            }
            for (int i = 0; i < rows; i++) {
                to[i] = half[i * columns + j];
            }
            KERNEL(combine)(rows, columns, M, turned, false, length, from, to);
        }
        for (int i = 0; i < rows; i++) {
            for (int k = 0; k < columns; k++) {
                from[k] = half[i * columns + k];
            }
            for (int j = 0; j < rows; j++) {
                ELEMENT *y = out[i * rows + j];
                to[j] = y ? y + e : nowhere;
            }
            KERNEL(combine)(rows, columns, M, turned, add, length, from, to);
        }
    }
}

#define DEFINE_MAP(name, rows, columns, M, turned, add)                                 \
    static TARGET void KERNEL(name)(int64_t n, const void *const *in, void *const *out) \
    {                                                                                   \
        KERNEL(map)(rows, columns, M, turned, add, n, in, out);                         \
    }
#define DEFINE_MAPS(r)                                                                   \
    DEFINE_MAP(read_input_##r, r + 3, r + 3, *winograd_B##r, false, false)               \
    DEFINE_MAP(add_input_##r, r + 3, r + 3, *winograd_B##r, true, true)                  \
    DEFINE_MAP(read_output_##r, r + 3, SALI_WINOGRAD_OUT, *winograd_A##r, true, false)   \
    DEFINE_MAP(write_output_##r, SALI_WINOGRAD_OUT, r + 3, *winograd_A##r, false, false) \
    DEFINE_MAP(read_weights_##r, r + 3, r, *winograd_G##r, false, false)                 \
    DEFINE_MAP(write_weights_##r, r, r + 3, *winograd_G##r, true, false)
DEFINE_MAPS(2)
DEFINE_MAPS(3)
#undef DEFINE_MAPS
#undef DEFINE_MAP

#define MAPS(r)                                                                           \
    {                                                                                     \
        KERNEL(read_input_##r), KERNEL(add_input_##r), KERNEL(read_output_##r),           \
            KERNEL(write_output_##r), KERNEL(read_weights_##r), KERNEL(write_weights_##r) \
    }
static const sali_winograd KERNEL(winograd)[SALI_WINOGRAD_KINDS] = { MAPS(2), MAPS(3) };
#undef MAPS
#undef CHUNK

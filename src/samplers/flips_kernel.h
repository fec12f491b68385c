/* SPDX-License-Identifier: MIT */
/* The functions of flips.h for one instruction set and one element type
 * (core/vector/each_isa.h). */

#define MANTISSA (BITS == 32 ? 23 : 52) /* digits of an element behind the point */
/* Half a vector of floats, or a vector of doubles, as doubles. The widest instruction set has a
 * faster instruction than gcc's general conversion. */
#if ISA == 2 && BITS == 32
#define WIDEN(part) ((DOUBLES)_mm512_cvtps_pd((__m256)(part)))
#else
#define WIDEN(part) __builtin_convertvector(part, DOUBLES)
#endif

#define LANES ((int64_t)(BYTES / sizeof(ELEMENT)))
#define WORDS KERNEL(words)
#define CODES KERNEL(codes)
#define DOUBLES KERNEL(doubles)
#define PART KERNEL(part_of)
#define PARTS ((int)(sizeof(double) / sizeof(ELEMENT)))
#define SUMS KERNEL(sums)
#define MOST (PRODUCT_TERMS * LANES)
#define INLINE static inline __attribute__((always_inline)) TARGET

typedef WORD WORDS __attribute__((vector_size(BYTES)));
typedef int32_t CODES __attribute__((vector_size(BYTES / sizeof(ELEMENT) * sizeof(int32_t))));
/* Sums are in double: a vector of floats is two of doubles. Products are of PRODUCT_TERMS factors a
 * lane at most. */
typedef double DOUBLES __attribute__((vector_size(BYTES)));
typedef ELEMENT PART __attribute__((vector_size(BYTES / sizeof(double) * sizeof(ELEMENT))));

typedef struct SUMS {
    DOUBLES sum[PARTS];
    VECTOR product;
} SUMS;

INLINE VECTOR KERNEL(load)(const void *array, int64_t i)
{
    VECTOR v;
    memcpy(&v, (const ELEMENT *)array + i, sizeof v);
    return v;
}

INLINE void KERNEL(store)(VECTOR v, void *array, int64_t i)
{
    memcpy((ELEMENT *)array + i, &v, sizeof v);
}

INLINE WORDS KERNEL(load_codes)(const int32_t *code, int64_t i)
{
    CODES v;
    memcpy(&v, code + i, sizeof v);
    return __builtin_convertvector(v, WORDS);
}

/* Lane by lane, a where all bits of `where` are set, b where none is. */
INLINE VECTOR KERNEL(select)(WORDS where, VECTOR a, VECTOR b)
{
    return (VECTOR)((where & (WORDS)a) | (~where & (WORDS)b));
}

INLINE void KERNEL(add)(VECTOR x, DOUBLES sum[PARTS])
{
    PART part[PARTS];
    memcpy(part, &x, sizeof x);
    for (int h = 0; h < PARTS; h++) {
        sum[h] += WIDEN(part[h]);
    }
}

/* exp(x) for x <= 0, off by at most 2 units in the last place. NaN stays NaN. Where exp(x) is below
 * the least normal number, the result is about this number: no uniform number is as small.
 *
 * x = n log 2 + r with a whole n. Next to `large` a number has no digits behind the point: the sum
 * rounds x / log 2 to n and holds n plus the exponent's bias in its last bits, which, shifted, are
 * the bits of 2^n. exp(r) is a Taylor series. log 2 has two parts, the first one so short that n
 * times it is exact. */
INLINE VECTOR KERNEL(exp_below)(VECTOR x)
{
    enum { SINGLE = sizeof(ELEMENT) == sizeof(float), FACTORS = 12 };
    static const double inverse_factorial[FACTORS] = {
        1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
        1. / 5040,       1. / 720,       1. / 120,      1. / 24,      1. / 6,      1. / 2
    };
    const VECTOR zero = { 0 }, least = zero + (ELEMENT)(SINGLE ? -87 : -708);
    const VECTOR large = zero + (ELEMENT)(SINGLE ? 0x1.8p23 + 127 : 0x1.8p52 + 1023);
    const VECTOR high = zero + (ELEMENT)(SINGLE ? 0x1.63p-1 : 0x1.62e42feep-1);
    const VECTOR low = zero + (ELEMENT)(SINGLE ? -2.1219444005469057e-4 : 1.9082149292705877e-10);
    x = KERNEL(select)((WORDS)(x < least), least, x);
    VECTOR sum = FMA(x, zero + (ELEMENT)1.4426950408889634, large), n = large - sum;
    VECTOR r = FMA(n, low, FMA(n, high, x));
    VECTOR series = zero + (ELEMENT)inverse_factorial[SINGLE ? 6 : 0];
    UNROLL
    for (int k = SINGLE ? 7 : 1; k < FACTORS; k++) {
        series = FMA(series, r, zero + (ELEMENT)inverse_factorial[k]);
    }
    series = 1 + FMA(r * r, series, r);
    return series * (VECTOR)((WORDS)sum << MANTISSA);
}

/* ---- one vector of variables, from index i on; only the lanes of `counted` are added to the sums
 */

/* Log-odds t of the flips, whether they are negative, and exp(-|t|). */
typedef struct KERNEL(odds) {
    WORDS t, negative;
    VECTOR e;
} KERNEL(odds);

INLINE KERNEL(odds) KERNEL(odds_of)(WORDS t)
{
    const VECTOR zero = { 0 };
    KERNEL(odds) o = { .t = t, .negative = t >> (8 * sizeof(ELEMENT) - 1) };
    o.e = KERNEL(exp_below)((VECTOR)(t | (WORDS)-zero));
    return o;
}

INLINE KERNEL(odds) KERNEL(odds_at)(const sali_flips *f, int64_t i)
{
    const VECTOR zero = { 0 };
    const double step = f->hi - f->lo, square = f->b * (f->hi * f->hi - f->lo * f->lo);
    VECTOR pull =
        FMA(zero + (ELEMENT)(f->beta * step), KERNEL(load)(f->y, i), zero + (ELEMENT)square);
    pull = f->w ? KERNEL(load)(f->w, i) * pull : pull;
    VECTOR up = FMA(zero + (ELEMENT)(f->alpha * step), KERNEL(load)(f->g, i), pull);
    return KERNEL(odds_of)((WORDS)up ^
                           (KERNEL(load_codes)(f->code, i) << (8 * sizeof(ELEMENT) - 1)));
}

/* exp(t) / max(exp(t), 1): the part of 1 + e that a flip has. */
INLINE VECTOR KERNEL(part)(const KERNEL(odds) * o)
{
    const VECTOR zero = { 0 };
    return KERNEL(select)(o->negative, o->e, zero + 1);
}

/* max(t, 0): log(1 + exp(t)) is this and log(1 + e). */
INLINE VECTOR KERNEL(positive)(const KERNEL(odds) * o)
{
    return (VECTOR)(o->t & ~o->negative);
}

INLINE void KERNEL(put)(const sali_flips *f, int64_t i, WORDS flips)
{
    const VECTOR zero = { 0 }, lo = zero + (ELEMENT)f->lo, hi = zero + (ELEMENT)f->hi;
    WORDS code = KERNEL(load_codes)(f->code, i) ^ (flips & 1);
    CODES narrow = __builtin_convertvector(code, CODES);
    memcpy(f->code_new + i, &narrow, sizeof narrow);
    KERNEL(store)(KERNEL(select)(-code, hi, lo), f->x_new, i);
}

/* Where `to` is not `code`. */
INLINE WORDS KERNEL(moved)(const sali_flips *f, int64_t i)
{
    return -(KERNEL(load_codes)(f->code, i) ^ KERNEL(load_codes)(f->to, i));
}

INLINE void KERNEL(count)(VECTOR x, WORDS counted, SUMS *s)
{
    KERNEL(add)((VECTOR)((WORDS)x & counted), s->sum);
}

INLINE void KERNEL(keep)(const sali_flips *f, const KERNEL(odds) * o, int64_t i, WORDS counted,
                         SUMS *s)
{
    KERNEL(store)(KERNEL(part)(o) / (1 + o->e), f->p, i);
    KERNEL(count)(KERNEL(positive)(o), counted, s);
    s->product *= 1 + (VECTOR)((WORDS)o->e & counted);
}

INLINE void KERNEL(prepare_at)(const sali_flips *f, int64_t i, WORDS counted, SUMS *s)
{
    const KERNEL(odds) o = KERNEL(odds_at)(f, i);
    KERNEL(store)((VECTOR)o.t, f->t, i);
    KERNEL(keep)(f, &o, i, counted, s);
}

INLINE void KERNEL(normalise_at)(const sali_flips *f, int64_t i, WORDS counted, SUMS *s)
{
    const KERNEL(odds) o = KERNEL(odds_of)((WORDS)KERNEL(load)(f->t, i));
    KERNEL(keep)(f, &o, i, counted, s);
}

INLINE void KERNEL(draw_at)(const sali_flips *f, int64_t i, WORDS counted, SUMS *s)
{
    WORDS flips = (WORDS)(KERNEL(load)(f->u, i) < KERNEL(load)(f->p, i));
    KERNEL(put)(f, i, flips);
    KERNEL(count)((VECTOR)((WORDS)KERNEL(load)(f->t, i) & flips), counted, s);
}

INLINE void KERNEL(weigh_at)(const sali_flips *f, int64_t i, WORDS counted, SUMS *s)
{
    KERNEL(count)((VECTOR)((WORDS)KERNEL(load)(f->t, i) & KERNEL(moved)(f, i)), counted, s);
}

/* Add log q of flipping (`flips`) or not, except for the factors 1 + e, which go to the product. */
INLINE void KERNEL(count_all)(const KERNEL(odds) * o, WORDS flips, WORDS counted, SUMS *s)
{
    KERNEL(count)((VECTOR)(o->t & flips) - KERNEL(positive)(o), counted, s);
    s->product *= 1 + (VECTOR)((WORDS)o->e & counted);
}

INLINE void KERNEL(propose_at)(const sali_flips *f, int64_t i, WORDS counted, SUMS *s)
{
    const KERNEL(odds) o = KERNEL(odds_at)(f, i);
    VECTOR u = KERNEL(load)(f->u, i);
    WORDS flips = (WORDS)(u + u * o.e < KERNEL(part)(&o));
    KERNEL(put)(f, i, flips);
    KERNEL(count_all)(&o, flips, counted, s);
}

INLINE void KERNEL(judge_at)(const sali_flips *f, int64_t i, WORDS counted, SUMS *s)
{
    const KERNEL(odds) o = KERNEL(odds_at)(f, i);
    KERNEL(count_all)(&o, KERNEL(moved)(f, i), counted, s);
}

/* ---- all variables */

INLINE void KERNEL(clear)(SUMS *s)
{
    const DOUBLES zero = { 0 };
    for (int h = 0; h < PARTS; h++) {
        s->sum[h] = zero;
    }
    s->product = (VECTOR){ 0 } + 1;
}

/* KERNEL(product): the product of all lanes of s->product. KERNEL(sum): the sum of all lanes of
 * s->sum. */
INLINE double KERNEL(product)(const SUMS *s)
{
    enum { ALL = BYTES / sizeof(double) };
    PART part[PARTS];
    memcpy(part, &s->product, sizeof part);
    DOUBLES all = WIDEN(part[0]);
    if (PARTS == 2) {
        all *= WIDEN(part[PARTS - 1]);
    }
    double lane[ALL];
    memcpy(lane, &all, sizeof lane);
    UNROLL
    for (int half = ALL / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) {
            lane[j] *= lane[j + half];
        }
    }
    return lane[0];
}

INLINE double KERNEL(sum)(const SUMS *s)
{
    enum { ALL = BYTES / sizeof(double) };
    const DOUBLES all = PARTS == 2 ? s->sum[0] + s->sum[PARTS - 1] : s->sum[0];
    double lane[ALL];
    memcpy(lane, &all, sizeof lane);
    UNROLL
    for (int half = ALL / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) {
            lane[j] += lane[j + half];
        }
    }
    return lane[0];
}

/* The lanes from `first` to `end` - 1. */
INLINE WORDS KERNEL(lanes)(int64_t first, int64_t end)
{
    WORDS place;
    for (int j = 0; j < LANES; j++) {
        place[j] = j;
    }
    return (place >= (WORD)first) & (place < (WORD)end);
}

/* Buffers of one vector for each array, for fewer variables than a vector has lanes. */
typedef struct KERNEL(room) {
    CODES code, to, code_new;
    VECTOR g, y, w, t, p, u, x_new;
} KERNEL(room);

/* A copy of *f whose arrays are those of `room`, filled with the f->n variables and then zeros, so
 * that a whole vector can be loaded; n is LANES. */
static sali_flips KERNEL(move_in)(const sali_flips *f, KERNEL(room) * room)
{
    const size_t n = (size_t)f->n;
    sali_flips inside = *f;
    memset(room, 0, sizeof *room);
    inside.n = LANES;
#define MOVE_IN(name, type)                             \
    if (f->name) {                                      \
        memcpy(&room->name, f->name, n * sizeof(type)); \
        inside.name = (void *)&room->name;              \
    }
    MOVE_IN(code, int32_t)
    MOVE_IN(to, int32_t)
    MOVE_IN(code_new, int32_t)
    MOVE_IN(g, ELEMENT)
    MOVE_IN(y, ELEMENT)
    MOVE_IN(w, ELEMENT)
    MOVE_IN(t, ELEMENT)
    MOVE_IN(p, ELEMENT)
    MOVE_IN(u, ELEMENT)
    MOVE_IN(x_new, ELEMENT)
#undef MOVE_IN
    return inside;
}

/* Copy the outputs of f->n variables from `room` to the arrays of *f. */
static void KERNEL(move_out)(const sali_flips *f, const KERNEL(room) * room)
{
    const size_t n = (size_t)f->n;
#define MOVE_OUT(name, type)                            \
    if (f->name) {                                      \
        memcpy(f->name, &room->name, n * sizeof(type)); \
    }
    MOVE_OUT(code_new, int32_t)
    MOVE_OUT(t, ELEMENT)
    MOVE_OUT(p, ELEMENT)
    MOVE_OUT(x_new, ELEMENT)
#undef MOVE_OUT
}

/* NAME_some handles variables i to end - 1, at most MOST; the arrays hold a vector at least. The
 * last vector begins where a whole one still fits: lanes that the vector before has handled already
 * are not counted again. */
#define DEFINE(name, total)                                                                     \
    static TARGET double KERNEL(name##_some)(const sali_flips *flips, int64_t i, int64_t end)   \
    {                                                                                           \
        const sali_flips f = *flips; /* a copy: stores to the arrays cannot alias its fields */ \
        SUMS s;                                                                                 \
        KERNEL(clear)(&s);                                                                      \
        for (; i + LANES <= end; i += LANES) {                                                  \
            KERNEL(name##_at)(&f, i, ~(WORDS){ 0 }, &s);                                        \
        }                                                                                       \
        if (i < end) {                                                                          \
            int64_t last = end < LANES ? 0 : end - LANES;                                       \
            KERNEL(name##_at)(&f, last, KERNEL(lanes)(i - last, end - last), &s);               \
        }                                                                                       \
        return total;                                                                           \
    }                                                                                           \
    static TARGET double KERNEL(name)(const sali_flips *f)                                      \
    {                                                                                           \
        double sum = 0;                                                                         \
        if (f->n < LANES) {                                                                     \
            KERNEL(room) room;                                                                  \
            const sali_flips inside = KERNEL(move_in)(f, &room);                                \
            sum = KERNEL(name##_some)(&inside, 0, f->n);                                        \
            KERNEL(move_out)(f, &room);                                                         \
            return sum;                                                                         \
        }                                                                                       \
        for (int64_t first = 0; first < f->n; first += MOST) {                                  \
            int64_t left = f->n - first;                                                        \
            sum += KERNEL(name##_some)(f, first, first + (left < MOST ? left : MOST));          \
        }                                                                                       \
        return sum;                                                                             \
    }
DEFINE(prepare, KERNEL(sum)(&s) + sali_norm_multiply(f.norm, KERNEL(product)(&s)))
DEFINE(normalise, KERNEL(sum)(&s) + sali_norm_multiply(f.norm, KERNEL(product)(&s)))
DEFINE(draw, KERNEL(sum)(&s))
DEFINE(weigh, KERNEL(sum)(&s))
DEFINE(propose, KERNEL(sum)(&s) - sali_norm_multiply(f.norm, KERNEL(product)(&s)))
DEFINE(judge, KERNEL(sum)(&s) - sali_norm_multiply(f.norm, KERNEL(product)(&s)))

#undef DEFINE
#undef LANES
#undef WORDS
#undef CODES
#undef DOUBLES
#undef PART
#undef PARTS
#undef SUMS
#undef MOST
#undef INLINE
#undef MANTISSA
#undef WIDEN

/* SPDX-License-Identifier: MIT */
/* The functions of vmath.h for one instruction set and one element type (each_isa.h).
 * SELECT(test, a, b) is a where the comparison holds, else b, lane by lane. */

#if ISA == 0 || (ISA == 1 && WITH_AVX2) || (ISA == 2 && WITH_AVX512)

#define LANES ((int64_t)(sizeof(VECTOR) / sizeof(ELEMENT)))

/* SLEEF's functions of error below 1 ulp. */
#if defined(__x86_64__)
#if ISA == 0 && BITS == 32
#define SLEEF(name) Sleef_##name##f4_u10sse2
#elif ISA == 0
#define SLEEF(name) Sleef_##name##d2_u10sse2
#elif ISA == 1 && BITS == 32
#define SLEEF(name) Sleef_##name##f8_u10avx2
#elif ISA == 1
#define SLEEF(name) Sleef_##name##d4_u10avx2
#elif BITS == 32
#define SLEEF(name) Sleef_##name##f16_u10avx512f
#else
#define SLEEF(name) Sleef_##name##d8_u10avx512f
#endif
#elif defined(__aarch64__) && defined(__ARM_NEON)
#if BITS == 32
#define SLEEF(name) Sleef_##name##f4_u10advsimd
#else
#define SLEEF(name) Sleef_##name##d2_u10advsimd
#endif
#else /* lane by lane */
#if BITS == 32
#define ONE(name) Sleef_##name##f_u10
#else
#define ONE(name) Sleef_##name##_u10
#endif
#define SLEEF(name) KERNEL(each_##name)
#define DEFINE_EACH(name)                      \
    static inline VECTOR SLEEF(name)(VECTOR x) \
    {                                          \
        for (int64_t i = 0; i < LANES; i++) {  \
            x[i] = ONE(name)(x[i]);            \
        }                                      \
        return x;                              \
    }
SLEEF_LIST(DEFINE_EACH)
static inline VECTOR SLEEF(pow)(VECTOR x, VECTOR p)
{
    for (int64_t i = 0; i < LANES; i++) {
        x[i] = ONE(pow)(x[i], p[i]);
    }
    return x;
}
#undef ONE
#undef DEFINE_EACH
#endif

/* sleef.h declares what the compiler's flags allow. */
#if (ISA == 1 && !defined(__AVX__)) || (ISA == 2 && !defined(__AVX512F__))
#define DECLARE(name) VECTOR SLEEF(name)(VECTOR x) TARGET;
SLEEF_LIST(DECLARE)
VECTOR SLEEF(pow)(VECTOR x, VECTOR p) TARGET;
#undef DECLARE
#endif

/* SLEEF's log1p is infinite above 1e38 and 1e307. There, log1p(x) = log1p(2^-k x) + k log 2 with a
 * k that keeps the error below 1 ulp: the first term lies in the binade below the result's. */
static inline TARGET VECTOR KERNEL(one_log1p)(VECTOR x)
{
    const VECTOR zero = { 0 };
    const VECTOR bound = zero + (ELEMENT)(sizeof(ELEMENT) == 4 ? 0x1p126 : 0x1p1019);
    const VECTOR scale = zero + (ELEMENT)(sizeof(ELEMENT) == 4 ? 0x1p-40 : 0x1p-300);
    const VECTOR shift = zero + (ELEMENT)((sizeof(ELEMENT) == 4 ? 40 : 300) * 0.6931471805599453);
    VECTOR y = SLEEF(log1p)(SELECT(x > bound, scale * x, x));
    return y + SELECT(x > bound, shift, -zero); /* adding -0 keeps the sign of zero */
}

/* a / b, for a in [0, 1] and b in [1, 2]. Where there is an estimate of 1 / b, one step of Newton's
 * method and a correction of the quotient give it within 1 ulp, three times as fast as a division
 * (Zen 5). */
static inline TARGET VECTOR KERNEL(quotient)(VECTOR a, VECTOR b)
{
#if ISA == 2 && BITS == 32
    const VECTOR estimate = (VECTOR)_mm512_rcp14_ps((__m512)b);
    const VECTOR inverse = FMA(estimate, FMA(-b, estimate, 1 + (VECTOR){ 0 }), estimate);
    const VECTOR q = a * inverse;
    return FMA(inverse, FMA(-b, q, a), q);
#else
    return a / b;
#endif
}

/* exp(-|x|) is in [0, 1], so neither function overflows, and small values keep their digits. A NaN
 * fails the comparison and comes back through exp. */
static inline TARGET VECTOR KERNEL(one_sigmoid)(VECTOR x)
{
    const VECTOR zero = { 0 }, one = zero + 1;
    VECTOR e = SLEEF(exp)(SELECT(x > zero, -x, x));
    return KERNEL(quotient)(SELECT(x > zero, one, e), one + e);
}

static inline TARGET VECTOR KERNEL(one_softplus)(VECTOR x)
{
    const VECTOR zero = { 0 };
    VECTOR e = SLEEF(exp)(SELECT(x > zero, -x, x));
    return SELECT(x > zero, x, zero) + SLEEF(log1p)(e);
}

/* The last, partial vector is padded with zeros: its elements go through the same instructions as
 * all others. */
#define MAP(name, function)                                                  \
    static TARGET void KERNEL(name)(int64_t n, const ELEMENT *x, ELEMENT *y) \
    {                                                                        \
        for (; n >= LANES; n -= LANES, x += LANES, y += LANES) {             \
            VECTOR v;                                                        \
            memcpy(&v, x, sizeof v);                                         \
            v = function(v);                                                 \
            memcpy(y, &v, sizeof v);                                         \
        }                                                                    \
        if (n > 0) {                                                         \
            VECTOR v = { 0 };                                                \
            memcpy(&v, x, (size_t)n * sizeof *x);                            \
            v = function(v);                                                 \
            memcpy(y, &v, (size_t)n * sizeof *y);                            \
        }                                                                    \
    }

MAP(exp, SLEEF(exp))
MAP(log, SLEEF(log))
MAP(log1p, KERNEL(one_log1p))
MAP(expm1, SLEEF(expm1))
MAP(sin, SLEEF(sin))
MAP(cos, SLEEF(cos))
MAP(tanh, SLEEF(tanh))
MAP(erf, SLEEF(erf))
MAP(lgamma, SLEEF(lgamma))
MAP(sigmoid, KERNEL(one_sigmoid))
MAP(softplus, KERNEL(one_softplus))

/* y[k] = x[k]^p for n elements; the last, partial vector is padded with zeros. */
static TARGET void KERNEL(pow)(int64_t n, const ELEMENT *x, ELEMENT p, ELEMENT *y)
{
    const VECTOR zero = { 0 }, power = zero + p;
    for (; n > 0; n -= LANES, x += LANES, y += LANES) {
        size_t bytes = (size_t)(n < LANES ? n : LANES) * sizeof *x;
        VECTOR v = { 0 };
        memcpy(&v, x, bytes);
        v = SLEEF(pow)(v, power);
        memcpy(y, &v, bytes);
    }
}

#undef MAP
#undef LANES
#undef SLEEF

#endif

/* SPDX-License-Identifier: MIT */
/* The functions of vmath.h for one instruction set and one element type. Included by vmath.c once
 * for each pair, which defines
 *
 *     ELEMENT              float or double
 *     VECTOR               what SLEEF's functions take and return
 *     SLEEF(name)          SLEEF's function of error below 1 ulp
 *     KERNEL(name)         the name of the array function
 *
 * and once for all, or for the instruction set,
 *
 *     TARGET               the function attribute that enables the instruction set
 *     SLEEF_HIDDEN         defined if sleef.h does not declare these functions
 *     SELECT(test, a, b)   lane by lane, a where the comparison holds, else b */

#define LANES ((int64_t)(sizeof(VECTOR) / sizeof(ELEMENT)))

#ifdef SLEEF_HIDDEN
VECTOR SLEEF(exp)(VECTOR x) TARGET;
VECTOR SLEEF(log)(VECTOR x) TARGET;
VECTOR SLEEF(log1p)(VECTOR x) TARGET;
VECTOR SLEEF(expm1)(VECTOR x) TARGET;
VECTOR SLEEF(sin)(VECTOR x) TARGET;
VECTOR SLEEF(cos)(VECTOR x) TARGET;
VECTOR SLEEF(tanh)(VECTOR x) TARGET;
VECTOR SLEEF(erf)(VECTOR x) TARGET;
VECTOR SLEEF(lgamma)(VECTOR x) TARGET;
VECTOR SLEEF(pow)(VECTOR x, VECTOR p) TARGET;
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

/* exp(-|x|) is in [0, 1], so neither function overflows, and small values keep their digits. A NaN
 * fails the comparison and comes back through exp. */
static inline TARGET VECTOR KERNEL(one_sigmoid)(VECTOR x)
{
    const VECTOR zero = { 0 }, one = zero + 1;
    VECTOR e = SLEEF(exp)(SELECT(x > zero, -x, x));
    return SELECT(x > zero, one, e) / (one + e);
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
#undef ELEMENT
#undef VECTOR
#undef SLEEF
#undef KERNEL

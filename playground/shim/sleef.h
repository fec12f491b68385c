/* SPDX-License-Identifier: MIT */
/* SLEEF's functions of one number, by the C library. */
#ifndef SHIM_SLEEF_H
#define SHIM_SLEEF_H

#include <math.h>

#define DEFINE(name)                                  \
    static inline float Sleef_##name##f_u10(float x)  \
    {                                                 \
        return name##f(x);                            \
    }                                                 \
    static inline double Sleef_##name##_u10(double x) \
    {                                                 \
        return name(x);                               \
    }
DEFINE(exp)
DEFINE(log)
DEFINE(log1p)
DEFINE(expm1)
DEFINE(sin)
DEFINE(cos)
DEFINE(tanh)
DEFINE(erf)
DEFINE(lgamma)
#undef DEFINE

/* Of x pi, by the nearest multiple of 2, so that large x keep their digits. */
static inline double Sleef_cinz_cospid1_u05purec(double x)
{
    return cos(3.14159265358979323846 * (x - 2 * rint(x / 2)));
}
static inline double Sleef_cinz_sinpid1_u05purec(double x)
{
    return sin(3.14159265358979323846 * (x - 2 * rint(x / 2)));
}
static inline double Sleef_cinz_logd1_u10purec(double x)
{
    return log(x);
}

static inline float Sleef_powf_u10(float x, float p)
{
    return powf(x, p);
}
static inline double Sleef_pow_u10(double x, double p)
{
    return pow(x, p);
}

#endif

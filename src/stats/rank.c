/* SPDX-License-Identifier: MIT */
#include "stats/rank.h"

#include <math.h>
#include <string.h>

/* An unsigned number that is in the same order as the double. */
static inline uint64_t sort_key(double value)
{
    uint64_t bits, top = UINT64_C(1) << 63;
    memcpy(&bits, &value, sizeof bits);
    return bits & top ? ~bits : bits | top;
}

void sali_rank_sort(int64_t n, sali_ranked *ranked, sali_ranked *scratch)
{
    int64_t starts[8][256] = { { 0 } };
    for (int64_t i = 0; i < n; i++) {
        ranked[i].value += 0.0; /* -0 + 0 = 0 */
        uint64_t key = sort_key(ranked[i].value);
        for (int byte = 0; byte < 8; byte++) {
            starts[byte][key >> (8 * byte) & 255]++;
        }
    }
    sali_ranked *from = ranked, *to = scratch;
    for (int byte = 0; byte < 8 && n > 0; byte++) {
        int64_t *start = starts[byte], before = 0;
        if (start[sort_key(from[0].value) >> (8 * byte) & 255] == n) {
            continue; /* all values share this byte */
        }
        for (int digit = 0; digit < 256; digit++) {
            int64_t count = start[digit];
            start[digit] = before;
            before += count;
        }
        for (int64_t i = 0; i < n; i++) {
            to[start[sort_key(from[i].value) >> (8 * byte) & 255]++] = from[i];
        }
        sali_ranked *swap = from;
        from = to;
        to = swap;
    }
    if (from != ranked) {
        memcpy(ranked, from, (size_t)n * sizeof *ranked);
    }
}

void sali_rank_fold(int64_t n, const sali_ranked *sorted, double center, sali_ranked *folded)
{
    int64_t above = 0;
    while (above < n && sorted[above].value < center) {
        above++;
    }
    int64_t below = above - 1; /* distances grow downwards from here, upwards from above */
    for (int64_t i = 0; i < n; i++) {
        double down = below >= 0 ? center - sorted[below].value : INFINITY;
        double up = above < n ? sorted[above].value - center : INFINITY;
        if (below >= 0 && (above >= n || down < up)) {
            folded[i] = (sali_ranked){ down, sorted[below--].index };
        } else {
            folded[i] = (sali_ranked){ up, sorted[above++].index };
        }
    }
}

void sali_rank_normalize(int64_t n, const sali_ranked *sorted, double *z)
{
    int64_t next;
    for (int64_t first = 0; first < n; first = next) {
        next = first + 1;
        while (next < n && sorted[next].value == sorted[first].value) {
            next++;
        }
        double rank = 0.5 * (double)(first + 1 + next); /* the mean of first + 1 .. next */
        double score = sali_normal_quantile((rank - 0.375) / ((double)n + 0.25));
        for (int64_t i = first; i < next; i++) {
            z[sorted[i].index] = score;
        }
    }
}

double sali_rank_quantile(int64_t n, const sali_ranked *sorted, double prob)
{
    double position = 1.0 + (double)(n - 1) * prob; /* from 1, to round as R does */
    int64_t low = (int64_t)floor(position), high = (int64_t)ceil(position);
    double weight = position - (double)low;
    double a = sorted[low - 1].value, b = sorted[high - 1].value;
    return a == b ? a : (1.0 - weight) * a + weight * b;
}

double sali_rank_median(int64_t n, const sali_ranked *sorted)
{
    double a = sorted[(n - 1) / 2].value, b = sorted[n / 2].value;
    return (double)(((long double)a + (long double)b) / 2.0L); /* cannot overflow where wider */
}

static double polynomial_at(const double coefficient[8], double x)
{
    double sum = coefficient[7];
    for (int i = 6; i >= 0; i--) {
        sum = sum * x + coefficient[i];
    }
    return sum;
}

/* Wichura (1988), Applied Statistics 37, algorithm AS 241, PPND16: rational approximations in the
 * middle and in two parts of the tail; the coefficients are the paper's. */
double sali_normal_quantile(double p)
{
    static const double a[8] = { 3.3871328727963666080e0,  1.3314166789178437745e+2,
                                 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3 };
    static const double b[8] = { 1.0,
                                 4.2313330701600911252e+1,
                                 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4,
                                 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3 };
    static const double c[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4 };
    static const double d[8] = { 1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9 };
    static const double e[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double f[8] = { 1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15 };
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial_at(a, r) / polynomial_at(b, r);
    }
    double r = sqrt(-log(q < 0.0 ? p : 1.0 - p));
    double z = r <= 5.0 ? polynomial_at(c, r - 1.6) / polynomial_at(d, r - 1.6)
                        : polynomial_at(e, r - 5.0) / polynomial_at(f, r - 5.0);
    return q < 0.0 ? -z : z;
}

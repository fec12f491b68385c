/* SPDX-License-Identifier: MIT */
#include "samplers/clusters/sums.h"

#include <math.h>
#include <string.h>

#include "core/object.h"

enum { MOST = SALI_CLUSTER_SUMMED, SETS = 1 << MOST };

/* Sets of the m variables `site`, as masks. */
struct sali_cluster_sums {
    int64_t m;
    int32_t site[MOST];
    double edge[MOST * MOST]; /* -log of the probability that two variables have no bond */
    double inside[SETS];      /* the sum of `edge` over the pairs of a set */
    double link[SETS];        /* the sum of `edge` from one variable to a set */
    double connected[SETS];   /* the probability that bonds join all of a set */
    double weight[SETS];      /* that, and that the cluster is shifted as it should */
    double whole[SETS];       /* the probability that all clusters of a set are shifted so */
};

sali_cluster_sums *sali_cluster_sums_open(void *object)
{
    return SALI_OBJECT_ARRAY(object, sali_cluster_sums, 1);
}

static int lowest(uint32_t set)
{
    return __builtin_ctz(set);
}

/* -log of the probability that an edge gets no bond: 0 unless the edge is satisfied. */
static double no_bond(const sali_cluster_graph *g, double beta, const int32_t *codes, int64_t i,
                      int64_t k)
{
    const bool same = codes[i] == codes[g->to[k]];
    return same == (g->strength[k] > 0) ? beta * fabs(g->strength[k]) : 0;
}

/* Fill `edge` from the graph, for the variables `site`. */
static void fill_edges(sali_cluster_sums *s, const sali_cluster_graph *g, double beta,
                       const int32_t *codes)
{
    memset(s->edge, 0, sizeof s->edge);
    for (int64_t a = 0; a < s->m; a++) {
        const int64_t i = s->site[a];
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            for (int64_t b = 0; b < s->m; b++) {
                s->edge[a * MOST + b] += g->to[k] == s->site[b] ? no_bond(g, beta, codes, i, k) : 0;
            }
        }
    }
}

static void fill_inside(sali_cluster_sums *s)
{
    s->inside[0] = 0;
    for (uint32_t set = 1; set < 1u << s->m; set++) {
        const uint32_t rest = set & (set - 1);
        double sum = s->inside[rest];
        for (uint32_t left = rest; left; left &= left - 1) {
            sum += s->edge[lowest(set) * MOST + lowest(left)];
        }
        s->inside[set] = sum;
    }
}

/* The probability that no bond joins two disjoint sets. */
static double apart(const sali_cluster_sums *s, uint32_t a, uint32_t b)
{
    return exp(s->inside[a] + s->inside[b] - s->inside[a | b]);
}

/* The probability that bonds join v and all of a set of later variables. Without v the set falls
 * into clusters, each with a bond to v; `piece` is the one of the set's first variable. */
static double connected_to(const sali_cluster_sums *s, int v, uint32_t set)
{
    const uint32_t first = set & -set, others = set ^ first;
    double sum = 0;
    for (uint32_t more = others;; more = (more - 1) & others) {
        const uint32_t piece = more | first, rest = set ^ piece;
        sum += s->connected[piece] * -expm1(-s->link[piece]) * apart(s, piece, rest) *
               s->connected[1u << v | rest];
        if (more == 0) {
            return sum;
        }
    }
}

static void fill_connected(sali_cluster_sums *s)
{
    const uint32_t all = (1u << s->m) - 1;
    for (int v = (int)s->m - 1; v >= 0; v--) {
        const uint32_t step = 2u << v; /* sets of later variables are its multiples */
        s->link[0] = 0;
        s->connected[1u << v] = 1;
        for (uint32_t set = step; set <= all; set += step) {
            s->link[set] = s->link[set & (set - 1)] + s->edge[v * MOST + lowest(set)];
            s->connected[1u << v | set] = connected_to(s, v, set);
        }
    }
}

/* Fill the sums over the bonds among m variables. */
static void prepare(sali_cluster_sums *s, const sali_cluster_graph *g, double beta,
                    const int32_t *codes, int64_t m, const int32_t *site)
{
    s->m = m;
    memcpy(s->site, site, (size_t)m * sizeof *site);
    fill_edges(s, g, beta, codes);
    fill_inside(s);
    fill_connected(s);
}

double sali_cluster_sums_one(sali_cluster_sums *s, const sali_cluster_graph *g, double beta,
                             const int32_t *codes, int64_t m, const int32_t *site)
{
    double out = 0;
    prepare(s, g, beta, codes, m, site);
    for (int64_t a = 0; a < m; a++) {
        const int64_t i = site[a];
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            bool within = false;
            for (int64_t b = 0; b < m; b++) {
                within |= site[b] == g->to[k];
            }
            out += within ? 0 : no_bond(g, beta, codes, i, k);
        }
    }
    return s->connected[(1u << m) - 1] * exp(-out);
}

/* The probability of a shift of a whole set, whose variables have q states, by the softmax of the
 * summed fields. */
static double shift_chance(const sali_cluster_sums *s, const sali_cluster_graph *g, double beta,
                           const int32_t *codes, uint32_t set, int32_t q, int32_t shift)
{
    double sum = 0, gains = 0;
    for (int32_t t = 0; t < q; t++) { /* exp of the gain of t less that of `shift` */
        gains = 0;
        for (uint32_t left = set; left; left &= left - 1) {
            const int32_t i = s->site[lowest(left)];
            gains += g->field[i * g->most + (codes[i] + t) % q] -
                     g->field[i * g->most + (codes[i] + shift) % q];
        }
        sum += exp(beta * gains);
    }
    return 1 / sum;
}

/* The probability that all clusters of m variables, which have no bonds to others, are shifted by
 * `shift`. */
static double all_shifted(sali_cluster_sums *s, const sali_cluster_graph *g, double beta,
                          const int32_t *codes, int64_t m, const int32_t *site, int32_t shift)
{
    prepare(s, g, beta, codes, m, site);
    s->whole[0] = 1;
    for (uint32_t set = 1; set < 1u << m; set++) {
        const uint32_t first = set & -set, others = set ^ first;
        const int32_t q = g->states[s->site[lowest(set)]];
        s->weight[set] = s->connected[set] > 0
                             ? s->connected[set] * shift_chance(s, g, beta, codes, set, q, shift)
                             : 0;
        double sum = 0;
        for (uint32_t more = others;; more = (more - 1) & others) {
            const uint32_t piece = more | first, rest = set ^ piece;
            sum += s->weight[piece] * apart(s, piece, rest) * s->whole[rest];
            if (more == 0) {
                break;
            }
        }
        s->whole[set] = sum;
    }
    return s->whole[(1u << m) - 1];
}

/* The shift that takes variable i from its code to `to`, cyclic; -1: it cannot move. */
static int32_t shift_of(const sali_cluster_graph *g, const int32_t *codes, const int32_t *to,
                        int64_t i)
{
    const int32_t q = g->states[i];
    return q == 1 ? -1 : (to[i] - codes[i] + q) % q;
}

double sali_cluster_sums_sweep(sali_cluster_sums *s, const sali_cluster_graph *g, double beta,
                               const int32_t *codes, const int32_t *to)
{
    double p = 1, crossing = 0;
    for (int32_t shift = 0; shift < g->most; shift++) {
        int32_t site[MOST];
        int64_t m = 0;
        for (int64_t i = 0; i < g->n; i++) {
            if (shift_of(g, codes, to, i) == shift) {
                site[m++] = (int32_t)i;
            }
        }
        p *= m > 0 ? all_shifted(s, g, beta, codes, m, site, shift) : 1;
    }
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            crossing += shift_of(g, codes, to, i) != shift_of(g, codes, to, g->to[k])
                            ? no_bond(g, beta, codes, i, k)
                            : 0;
        }
    }
    return p * exp(-crossing / 2);
}

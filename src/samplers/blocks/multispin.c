/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/multispin.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

enum {
    LANES = SALI_SPIN_LANES,
    CHAINS = 32, /* of a word */
    DIGITS = 64,
    BLOCK = 4,  /* digits of a block of random numbers */
    KINDS = 16, /* the most different fields of a variable without neighbours */
    TILES_COUNTED = 60,
    LIST = TILES_COUNTED * LANES,
    PART = 14 /* a part of a sweep that is shorter than V / PART is made step by step */
};

/* Fields that differ by this share of the largest differ by rounding only. */
#define ROUNDING 1e-12

/* Random digits of LANES consecutive steps of a word of chains, as far as they were needed. */
typedef struct digit_store {
    uint64_t first; /* 1 + the first step; 0: none */
    int n;          /* digits that are there */
    uint32_t words[DIGITS * LANES];
} digit_store;

struct sali_multispin {
    const sal_space *space;
    int64_t V, n_tiles;
    double span;     /* L1 distance of a variable's two states */
    uint32_t *site;  /* [n_tiles x LANES] */
    uint32_t *near;  /* [n_tiles x slots x LANES] */
    uint8_t *kind;   /* [n_tiles] */
    uint32_t *place; /* [V] tile * LANES + lane of a variable */
    int slots[2], counts, n_kinds;
    double size[2], base[KINDS]; /* |J|; the field of a variable of which no neighbour pulls up */
    uint32_t *digits;            /* [n_kinds x DIGITS x counts] of the probabilities */
    int64_t words;               /* of each variable */
    uint32_t *live;              /* [words] the bits that are chains */
    uint32_t *states;            /* [words x (V + 1)] */
    /* [n_kinds + 2 SALI_SPIN_DIGITS lists x LIST] words, of one tile after another */
    uint32_t *lists;
    digit_store *store; /* [words] */
    /* f is f0 [n] and what is counted in each chain, times fields and sizes: variables of a kind
     * that are 1, ups [words x n_kinds x CHAINS], and how often their fields have a size, each pair
     * of variables once, pulls [words x 2 x CHAINS]. fresh: f0 is to be taken. */
    bool fresh;
    double *f0;
    int64_t *ups, *pulls;
};

/* ---- what suits */

/* The span of the states that all variables have in common; 0: they have none. */
static double common_span(const sal_space *space)
{
    double span = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (s->states != 2 || s->kind == SAL_CATEGORICAL || !s->levels) {
            return 0;
        }
        const double own = fabs(s->levels[1] - s->levels[0]);
        if (b > 0 && own != span) {
            return 0;
        }
        span = own;
    }
    return span;
}

/* The place of |J| among the sizes, which it joins if there is room; -1: there is none. */
static int size_of(sali_multispin *m, double J)
{
    for (int k = 0; k < 2; k++) {
        if (m->size[k] == 0) {
            m->size[k] = fabs(J);
        }
        if (m->size[k] == fabs(J)) {
            return k;
        }
    }
    return -1;
}

/* The place of a field among the bases, which it joins if there is room; -1: there is none. */
static int kind_of(sali_multispin *m, double base, double largest)
{
    for (int k = 0; k < m->n_kinds; k++) {
        if (fabs(m->base[k] - base) <= ROUNDING * largest) {
            return k;
        }
    }
    if (m->n_kinds == KINDS) {
        return -1;
    }
    m->base[m->n_kinds] = base;
    return m->n_kinds++;
}

/* Find sizes, kinds, and the most neighbours of each size, and store the kind of each variable in
 * kinds [V]; false: the couplings are not suited. */
static bool find_kinds(sali_multispin *m, const sali_coupling_values *c, uint8_t *kinds)
{
    for (int64_t i = 0; i < m->V; i++) {
        int near[2] = { 0 };
        double base = c->linear[i];
        for (int64_t k = c->begin[i]; k < c->begin[i + 1]; k++) {
            const double J = c->couplings[k].J;
            const int size = size_of(m, J);
            if (size < 0 || near[size] == SALI_SPIN_NEIGHBOURS) {
                return false;
            }
            near[size]++;
            base += J < 0 ? J : 0;
        }
        const int kind = kind_of(m, base, c->largest);
        if (kind < 0) {
            return false;
        }
        kinds[i] = (uint8_t)kind;
        for (int s = 0; s < 2; s++) {
            m->slots[s] = near[s] > m->slots[s] ? near[s] : m->slots[s];
        }
    }
    m->counts = (m->slots[0] + 1) * (m->slots[1] + 1);
    return m->counts <= SALI_SPIN_COUNTS;
}

/* ---- the order */

/* Rank each variable: one more than the highest rank of its neighbours before it. Variables of one
 * rank are no neighbours, and in the order of ranks each still comes after the same neighbours.
 * Returns the number of ranks. */
static int64_t rank_variables(const sali_coupling_values *c, int64_t V, uint32_t *rank)
{
    uint32_t most = 0;
    for (int64_t i = 0; i < V; i++) {
        rank[i] = 0;
        for (int64_t k = c->begin[i]; k < c->begin[i + 1] && c->couplings[k].to < i; k++) {
            const uint32_t after = rank[c->couplings[k].to] + 1;
            rank[i] = after > rank[i] ? after : rank[i];
        }
        most = rank[i] > most ? rank[i] : most;
    }
    return (int64_t)most + 1;
}

/* Write the neighbours of variable i to the lane of its tile; those that it lacks are variable V.
 */
static void list_near(const sali_multispin *m, const sali_coupling_values *c, int64_t i)
{
    const int slots = m->slots[0] + m->slots[1];
    uint32_t *near = m->near + (int64_t)(m->place[i] / LANES) * slots * LANES + m->place[i] % LANES;
    int at[2] = { 0, m->slots[0] };
    for (int64_t k = c->begin[i]; k < c->begin[i + 1]; k++) {
        const double J = c->couplings[k].J;
        const int slot = at[fabs(J) == m->size[0] ? 0 : 1]++;
        near[slot * LANES] = (uint32_t)c->couplings[k].to | (J < 0 ? SALI_SPIN_TURNED : 0);
    }
}

/* Place the variables in tiles of one rank and one kind: begin [ranks x kinds + 1], zero before,
 * receives where each such class begins. Returns the number of tiles. */
static int64_t place_variables(sali_multispin *m, int64_t ranks, const uint32_t *rank,
                               const uint8_t *kinds, int64_t *begin)
{
    const int64_t classes = ranks * m->n_kinds;
    for (int64_t i = 0; i < m->V; i++) {
        begin[rank[i] * (int64_t)m->n_kinds + kinds[i] + 1]++;
    }
    for (int64_t k = 0; k < classes; k++) {
        begin[k + 1] = begin[k] + (begin[k + 1] + LANES - 1) / LANES * LANES;
    }
    const int64_t tiles = begin[classes] / LANES;
    for (int64_t i = 0; i < m->V; i++) {
        m->place[i] = (uint32_t)begin[rank[i] * (int64_t)m->n_kinds + kinds[i]]++;
    }
    return tiles;
}

/* Make tiles of all variables; *fits receives whether they fill `fill` of the tiles. */
static sal_status make_tiles(sali_multispin *m, const sali_coupling_values *c, const uint8_t *kinds,
                             double fill, bool *fits)
{
    const int slots = m->slots[0] + m->slots[1];
    uint32_t *rank = SALI_NEW_ARRAY(uint32_t, m->V);
    const int64_t ranks = rank ? rank_variables(c, m->V, rank) : 0;
    if (rank && (double)m->V < fill * (double)(ranks * LANES)) { /* a rank has a tile of its own */
        sali_free(rank);
        *fits = false;
        return SAL_OK;
    }
    int64_t *begin = SALI_NEW_ARRAY(int64_t, ranks * m->n_kinds + 1);
    m->place = SALI_NEW_ARRAY(uint32_t, m->V);
    bool good = rank && begin && m->place;
    if (good) {
        m->n_tiles = place_variables(m, ranks, rank, kinds, begin);
        *fits = (double)m->V >= fill * (double)(m->n_tiles * LANES) &&
                m->n_tiles * LANES < (int64_t)SALI_SPIN_TURNED;
    }
    sali_free(rank);
    sali_free(begin);
    if (!good || !*fits) {
        return good ? SAL_OK : SAL_ERR_MEMORY;
    }
    m->site = SALI_NEW_ARRAY(uint32_t, m->n_tiles * LANES);
    m->near = SALI_NEW_ARRAY(uint32_t, m->n_tiles * LANES * slots);
    m->kind = SALI_NEW_ARRAY(uint8_t, m->n_tiles);
    if (!m->site || !m->near || !m->kind) {
        return SAL_ERR_MEMORY;
    }
    for (int64_t k = 0; k < m->n_tiles * LANES; k++) {
        m->site[k] = (uint32_t)m->V;
    }
    for (int64_t k = 0; k < m->n_tiles * LANES * slots; k++) {
        m->near[k] = (uint32_t)m->V;
    }
    for (int64_t i = 0; i < m->V; i++) {
        m->site[m->place[i]] = (uint32_t)i;
        m->kind[m->place[i] / LANES] = kinds[i];
        list_near(m, c, i);
    }
    return SAL_OK;
}

/* ---- creation */

void sali_multispin_destroy(sali_multispin *m)
{
    if (m) {
        sali_free(m->site);
        sali_free(m->near);
        sali_free(m->kind);
        sali_free(m->place);
        sali_free(m->digits);
        sali_free(m->live);
        sali_free(m->states);
        sali_free(m->lists);
        sali_free(m->f0);
        sali_free(m->ups);
        sali_free(m->pulls);
        sali_free(m->store);
        sali_free(m);
    }
}

/* Allocate what depends on the chains. */
static sal_status make_words(sali_multispin *m, int64_t chains)
{
    const int64_t words = (chains + CHAINS - 1) / CHAINS;
    m->digits = SALI_NEW_ARRAY(uint32_t, (int64_t)m->n_kinds * DIGITS * m->counts);
    m->live = SALI_NEW_ARRAY(uint32_t, words);
    m->states = SALI_NEW_ARRAY(uint32_t, words * (m->V + 1));
    m->lists = SALI_NEW_ARRAY(uint32_t, (m->n_kinds + 2 * SALI_SPIN_DIGITS) * LIST);
    m->f0 = SALI_NEW_ARRAY(double, chains);
    m->ups = SALI_NEW_ARRAY(int64_t, words * m->n_kinds * CHAINS);
    m->pulls = SALI_NEW_ARRAY(int64_t, words * 2 * CHAINS);
    m->store = SALI_NEW_ARRAY(digit_store, words);
    return m->digits && m->live && m->states && m->lists && m->f0 && m->ups && m->pulls && m->store
               ? SAL_OK
               : SAL_ERR_MEMORY;
}

sal_status sali_multispin_create(const sal_space *space, const sali_coupling_values *couplings,
                                 int64_t chains, double fill, sali_multispin **out)
{
    *out = NULL;
    const double span = common_span(space);
    if (span == 0 || space->n_variables >= (int64_t)SALI_SPIN_TURNED) {
        return SAL_OK;
    }
    sali_multispin *m = SALI_NEW(sali_multispin);
    uint8_t *kinds = SALI_NEW_ARRAY(uint8_t, space->n_variables);
    sal_status status = m && kinds ? SAL_OK : SAL_ERR_MEMORY;
    bool fits = false;
    if (status == SAL_OK) {
        m->space = space;
        m->V = space->n_variables;
        m->span = span;
        fits = find_kinds(m, couplings, kinds);
    }
    if (fits) {
        status = make_tiles(m, couplings, kinds, fill, &fits);
    }
    if (status == SAL_OK && fits) {
        status = make_words(m, chains);
    }
    sali_free(kinds);
    if (status != SAL_OK || !fits) {
        sali_multispin_destroy(m);
        return status;
    }
    *out = m;
    return SAL_OK;
}

/* ---- states */

/* The first 64 binary digits of p, the first one highest. */
static uint64_t digits_of(double p)
{
    const double scaled = p * 0x1p64;
    return scaled >= 0x1p64 ? UINT64_MAX : (uint64_t)scaled;
}

/* Compute the probabilities of all kinds and counts at an inverse temperature. */
static void fill_digits(sali_multispin *m, double beta)
{
    for (int kind = 0; kind < m->n_kinds; kind++) {
        for (int k = 0; k < m->counts; k++) {
            const int own = k % (m->slots[0] + 1), other = k / (m->slots[0] + 1);
            const double field = m->base[kind] + own * m->size[0] + other * m->size[1];
            const uint64_t p = digits_of(1 / (1 + exp(-beta * field)));
            for (int j = 0; j < DIGITS; j++) {
                m->digits[(kind * DIGITS + j) * m->counts + k] =
                    p >> (DIGITS - 1 - j) & 1 ? UINT32_MAX : 0;
            }
        }
    }
}

bool sali_multispin_start(sali_multispin *m, const sali_chains *chains)
{
    for (int64_t c = 1; c < chains->n; c++) {
        if (chains->beta[c] != chains->beta[0]) {
            return false;
        }
    }
    m->words = (chains->n + CHAINS - 1) / CHAINS;
    m->fresh = true;
    fill_digits(m, chains->beta[0]);
    memset(m->live, 0, (size_t)m->words * sizeof *m->live);
    memset(m->states, 0, (size_t)(m->words * (m->V + 1)) * sizeof *m->states);
    for (int64_t w = 0; w < m->words; w++) {
        m->store[w].first = 0;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        const int64_t w = c / CHAINS;
        const int bit = (int)(c % CHAINS);
        uint32_t *states = m->states + w * (m->V + 1);
        m->live[w] |= UINT32_C(1) << bit;
        for (int64_t v = 0; v < m->V; v++) {
            states[v] |= (uint32_t)chains->codes[c * m->V + v] << bit;
        }
    }
    return true;
}

/* Write the states of variables first .. end - 1 to codes and x of all chains. */
static void store_states(const sali_multispin *m, sali_chains *chains, int64_t first, int64_t end)
{
    const sal_space *space = m->space;
    for (int64_t c = 0; c < chains->n && first < end; c++) {
        const uint32_t *states = m->states + c / CHAINS * (m->V + 1);
        int32_t *codes = chains->codes + c * m->V;
        sali_spin_codes(end - first, states + first, (int)(c % CHAINS), codes + first);
        void *x = sali_row(chains, chains->x, c, space->width);
        for (int64_t v = first; v < end; v++) { /* all are single reals, in order */
            sali_store(chains->model->dtype, x, v, space->variables[v].levels[codes[v]]);
        }
    }
}

/* Write what n steps, from step t on, have set. */
static void store_steps(const sali_multispin *m, sali_chains *chains, uint64_t t, int64_t n)
{
    const int64_t first = (int64_t)(t % (uint64_t)m->V), end = first + n;
    if (n < m->V) {
        store_states(m, chains, first, end < m->V ? end : m->V);
        store_states(m, chains, 0, end - m->V);
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        sali_spin_codes(m->V, m->states + c / CHAINS * (m->V + 1), (int)(c % CHAINS),
                        chains->codes + c * m->V);
    }
    sali_chains_embed(chains);
}

/* ---- steps */

static sali_spin_tile tile_at(const sali_multispin *m, int64_t k, int64_t w, int64_t from,
                              int64_t to)
{
    return (sali_spin_tile){ .site = m->site + k * LANES,
                             .near = m->near + k * LANES * (m->slots[0] + m->slots[1]),
                             .slots = { m->slots[0], m->slots[1] },
                             .digits = m->digits + (int64_t)m->kind[k] * DIGITS * m->counts,
                             .from = (uint32_t)from,
                             .to = (uint32_t)to,
                             .live = m->live[w] };
}

/* The digits of word w: a stream of its own, by the number of its first chain. */
static sali_stream stream_of(const sali_chains *chains, int64_t w, uint64_t t)
{
    return (sali_stream){
        .seed = chains->seed, .step = t, .chain = chains->id[w * CHAINS], .purpose = SALI_RNG_SPINS
    };
}

/* Steps of word w that draw variables from .. to - 1, of the sweep that begins at step t; flips
 * [CHAINS] += how many variables changed. */
static void sweep(sali_multispin *m, const sali_chains *chains, int64_t w, uint64_t t, int64_t from,
                  int64_t to, int64_t *flips)
{
    const sali_stream stream = stream_of(chains, w, t);
    uint32_t *states = m->states + w * (m->V + 1);
    for (int64_t first = 0; first < m->n_tiles; first += TILES_COUNTED) {
        const int64_t left = m->n_tiles - first, n = left < TILES_COUNTED ? left : TILES_COUNTED;
        for (int64_t k = 0; k < n; k++) {
            const sali_spin_tile tile = tile_at(m, first + k, w, from, to);
            sali_spin_update(&tile, &stream, states, m->lists + k * LANES);
        }
        sali_spin_totals(n * LANES, m->lists, 1, flips);
    }
}

/* Count the states of word w. */
static void count_states(sali_multispin *m, int64_t w)
{
    const uint32_t *states = m->states + w * (m->V + 1);
    uint32_t *digits = m->lists + (int64_t)m->n_kinds * LIST;
    int64_t *ups = m->ups + w * m->n_kinds * CHAINS, *pulls = m->pulls + w * 2 * CHAINS;
    memset(ups, 0, (size_t)(m->n_kinds * CHAINS) * sizeof *ups);
    memset(pulls, 0, 2 * CHAINS * sizeof *pulls);
    for (int64_t first = 0; first < m->n_tiles; first += TILES_COUNTED) {
        const int64_t left = m->n_tiles - first, n = left < TILES_COUNTED ? left : TILES_COUNTED;
        int64_t of_kind[KINDS] = { 0 };
        for (int64_t k = 0; k < n; k++) {
            const int kind = m->kind[first + k];
            const sali_spin_tile tile = tile_at(m, first + k, w, 0, m->V);
            sali_spin_list(&tile, states, m->lists + (int64_t)kind * LIST + of_kind[kind],
                           digits + k * LANES, LIST);
            of_kind[kind] += LANES;
        }
        for (int k = 0; k < m->n_kinds; k++) {
            sali_spin_totals(of_kind[k], m->lists + (int64_t)k * LIST, 1, ups + k * CHAINS);
        }
        for (int k = 0; k < 2 * SALI_SPIN_DIGITS; k++) {
            const int s = k / SALI_SPIN_DIGITS, b = k % SALI_SPIN_DIGITS;
            if (2 * m->slots[s] >> b) {
                sali_spin_totals(n * LANES, digits + (int64_t)k * LIST, 1 << b, pulls + s * CHAINS);
            }
        }
    }
    for (int k = 0; k < 2 * CHAINS; k++) {
        pulls[k] /= 2;
    }
}

/* Digit j of the random numbers of step t, of all bits of word w. */
static uint32_t digit_at(sali_multispin *m, const sali_chains *chains, int64_t w, uint64_t t, int j)
{
    static const uint32_t after[LANES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    digit_store *store = &m->store[w];
    const uint64_t first = t - t % LANES;
    if (store->first != first + 1) {
        store->first = first + 1;
        store->n = 0;
    }
    for (; store->n <= j; store->n += BLOCK) {
        const sali_stream stream = stream_of(chains, w, first);
        sali_rng_words_by_step(&stream, (uint32_t)(store->n / BLOCK), LANES, after,
                               store->words + store->n * LANES);
    }
    return store->words[j * LANES + (int64_t)(t - first)];
}

/* digit [4]: the binary digits of how many neighbours pull up; masks [slots + 1]: the bits with
 * each count. */
static void count_one(const uint32_t *near, const uint32_t *states, int slots, uint32_t *digit,
                      uint32_t *masks)
{
    memset(digit, 0, 4 * sizeof *digit);
    for (int s = 0; s < slots; s++) {
        const uint32_t to = near[s * LANES];
        uint32_t carry = states[to & ~SALI_SPIN_TURNED] ^ -(to >> 31);
        for (int b = 0; b < 4; b++) {
            const uint32_t both = digit[b] & carry;
            digit[b] ^= carry;
            carry = both;
        }
    }
    for (int k = 0; k <= slots; k++) {
        masks[k] = UINT32_MAX;
        for (int b = 0; b < 4; b++) {
            masks[k] &= k >> b & 1 ? digit[b] : ~digit[b];
        }
    }
}

/* Step t of word w, which draws variable v; flips [CHAINS] and the counts follow. */
static void step_one(sali_multispin *m, const sali_chains *chains, int64_t w, uint64_t t, int64_t v,
                     int64_t *flips)
{
    const int64_t lane = m->place[v] % LANES, k = m->place[v] / LANES;
    const sali_spin_tile tile = tile_at(m, k, w, v, v + 1);
    uint32_t *states = m->states + w * (m->V + 1), up = 0, open = tile.live;
    uint32_t own[SALI_SPIN_COUNTS], other[SALI_SPIN_COUNTS], masks[SALI_SPIN_COUNTS], digit[2][4];
    count_one(tile.near + lane, states, m->slots[0], digit[0], own);
    count_one(tile.near + m->slots[0] * LANES + lane, states, m->slots[1], digit[1], other);
    for (int c = 0; c < m->counts; c++) {
        masks[c] = own[c % (m->slots[0] + 1)] & other[c / (m->slots[0] + 1)];
    }
    for (int j = 0; j < DIGITS && open; j++) {
        uint32_t p = 0;
        for (int c = 0; c < m->counts; c++) {
            p |= masks[c] & tile.digits[j * m->counts + c];
        }
        const uint32_t differs = (digit_at(m, chains, w, t, j) ^ p) & open;
        up |= differs & p;
        open &= ~differs;
    }
    const uint32_t rise = up & ~states[v], fall = states[v] & ~up;
    int64_t *ups = m->ups + (w * m->n_kinds + m->kind[k]) * CHAINS;
    sali_spin_add(rise | fall, 1, flips);
    sali_spin_add(rise, 1, ups);
    sali_spin_add(fall, -1, ups);
    for (int s = 0; s < 2; s++) {
        for (int b = 0; m->slots[s] >> b; b++) {
            sali_spin_add(rise & digit[s][b], 1 << b, m->pulls + (w * 2 + s) * CHAINS);
            sali_spin_add(fall & digit[s][b], -1 * (1 << b), m->pulls + (w * 2 + s) * CHAINS);
        }
    }
    states[v] = up;
}

/* n steps of word w from step t on. */
static void steps_of_word(sali_multispin *m, sali_chains *chains, int64_t w, uint64_t t, int64_t n)
{
    int64_t flips[CHAINS] = { 0 };
    bool counted = true;
    while (n > 0) {
        const int64_t v = (int64_t)(t % (uint64_t)m->V), left = m->V - v;
        const int64_t part = n < left ? n : left;
        if (part > m->V / PART) {
            sweep(m, chains, w, t - (uint64_t)v, v, v + part, flips);
            counted = false;
        } else {
            for (int64_t k = 0; k < part; k++) {
                step_one(m, chains, w, t + (uint64_t)k, v + k, flips);
            }
        }
        t += (uint64_t)part;
        n -= part;
    }
    if (!counted) {
        count_states(m, w);
    }
    for (int64_t c = w * CHAINS; c < chains->n && c < (w + 1) * CHAINS; c++) {
        chains->jump_sum[c] += m->span * (double)flips[c % CHAINS];
    }
}

/* What the counts of chain c add to f. */
static double counted_f(const sali_multispin *m, int64_t c)
{
    const int64_t w = c / CHAINS, bit = c % CHAINS;
    double f = 0;
    for (int k = 0; k < m->n_kinds; k++) {
        f += m->base[k] * (double)m->ups[(w * m->n_kinds + k) * CHAINS + bit];
    }
    for (int s = 0; s < 2; s++) {
        f += m->size[s] * (double)m->pulls[(w * 2 + s) * CHAINS + bit];
    }
    return f;
}

/* Take f at the start. */
static void take_f(sali_multispin *m, const sali_chains *chains)
{
    for (int64_t w = 0; w < m->words; w++) {
        count_states(m, w);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        m->f0[c] = chains->f[c] - counted_f(m, c);
    }
    m->fresh = false;
}

void sali_multispin_steps(sali_multispin *m, sali_chains *chains, int64_t n)
{
    const uint64_t t = chains->step[0];
    if (m->fresh) {
        take_f(m, chains);
    }
    for (int64_t w = 0; w < m->words; w++) {
        steps_of_word(m, chains, w, t, n);
    }
    store_steps(m, chains, t, n);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->f[c] = m->f0[c] + counted_f(m, c);
        chains->acceptance_sum[c] += (double)n;
        chains->accepted_sum[c] += (double)n;
        chains->step[c] += (uint64_t)n;
    }
}

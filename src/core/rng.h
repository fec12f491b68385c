/* SPDX-License-Identifier: MIT */
/* Random numbers without state: Philox 4x32-10 (Random123), keyed by the seed; the counter is
 * (step low, step high, chain, purpose << 24 | block). Whoever knows seed, chain, step and purpose
 * can make the numbers again, so results depend neither on threads nor on when a run was resumed.
 * Source: Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3. */
#ifndef SALI_RNG_H
#define SALI_RNG_H

#include <stdint.h>

/* What numbers are for; two purposes never share a counter. */
typedef enum sali_purpose {
    SALI_RNG_INIT = 1,  /* starting states */
    SALI_RNG_REPAIR,    /* repair of forbidden starting states */
    SALI_RNG_PROPOSAL,  /* which state is proposed */
    SALI_RNG_ACCEPT,    /* accept or reject */
    SALI_RNG_PARAMS,    /* starting values of parameters */
    SALI_RNG_DATA,      /* minibatches of training data */
    SALI_RNG_BUFFER,    /* minibatches of the replay buffer */
    SALI_RNG_DIGITS,    /* synthetic digits */
    SALI_RNG_STATISTIC, /* random reference states of diagnostics */
    SALI_RNG_TEST,
    SALI_RNG_EXTENSION,  /* states of a multilinear extension */
    SALI_RNG_AUXILIARY,  /* Gaussian auxiliary variables of a proposal */
    SALI_RNG_RELAXATION, /* points of a relaxation within the orthant of a state */
    SALI_RNG_SCAN,       /* scans of pairwise models: "step" is the number of steps / 4 */
    SALI_RNG_SWAP,       /* swaps of states between temperatures */
    SALI_RNG_ANNEAL,     /* moves whose differences set a range of temperatures */
    SALI_RNG_LEARNING,   /* states and proposals from which a proposal is learned */
    SALI_RNG_ORDER,      /* ties between variables that may be eliminated next */
    SALI_RNG_RESTART,    /* which persistent chains start again */
    SALI_RNG_BINARISE,   /* pixels drawn from their greys: "chain" is the row, "step" its use */
    SALI_RNG_INPAINT,    /* seeds of the runs of an in-painting */
    SALI_RNG_OWN,        /* proposals of the caller's own samplers */
    SALI_RNG_SPLIT,      /* which rows of data are held out */
    SALI_RNG_VISITS,     /* the order of a shuffled sweep: "step" is the sweep; a random piece */
    SALI_RNG_DIRECTION,  /* a chain's direction, at first and anew */
    SALI_RNG_COOLING,    /* seeds of the coolings of a search: "step" is the cooling */
    SALI_RNG_NOISE,      /* noise of denoising chains */
    SALI_RNG_EXACT_DRAW, /* independent draws of oracles: "chain" and "step" number the draws */
    SALI_RNG_EXCHANGE,   /* clusters that two chains exchange: "chain" is the slot of the first */
    SALI_RNG_SPINS       /* binary digits for 32 chains a word: "chain" is that of the first one */
} sali_purpose;

/* One stream: all the numbers of one purpose at one step of one chain. At most 2^24 blocks of
 * four 32-bit words. */
typedef struct sali_stream {
    uint64_t seed;
    uint64_t step;
    uint32_t chain;
    uint32_t purpose; /* sali_purpose */
} sali_stream;

/* n words, starting at the stream's block `first` (word 4 * first). */
void sali_rng_words(const sali_stream *stream, uint32_t first, int64_t n, uint32_t *out);

/* The words of one block of n streams that differ in their chain only: out[w * n + k] is word w of
 * the stream of chain[k], w = 0 .. 3. n is a multiple of SALI_RNG_CHAINS. Vectorised over the
 * chains. */
#define SALI_RNG_CHAINS 16
void sali_rng_words_by_chain(const sali_stream *stream, uint32_t block, int64_t n,
                             const uint32_t *chain, uint32_t *out);

/* The same of n streams that differ in their step only: stream k is that of step + after[k]. */
void sali_rng_words_by_step(const sali_stream *stream, uint32_t block, int64_t n,
                            const uint32_t *after, uint32_t *out);

/* n uniforms strictly inside (0, 1), from the stream's start: f32 takes one word each,
 * (x >> 9) * 2^-23 + 2^-24; f64 takes two, 53 bits minus one in the same way. Element k does not
 * depend on n. Vectorised. */
void sali_rng_uniform_f32(const sali_stream *stream, int64_t n, float *out);
void sali_rng_uniform_f64(const sali_stream *stream, int64_t n, double *out);

/* Elements first .. first + n - 1 of sali_rng_uniform_f64; `first` is even. */
void sali_rng_uniform_f64_from(const sali_stream *stream, uint32_t first, int64_t n, double *out);

/* Elements 0 and 1 of sali_rng_uniform_f64 of n streams that differ in their chain only: first[k]
 * and second[k] belong to chain[k]. Vectorised over the chains. */
void sali_rng_uniform_pairs(const sali_stream *stream, int64_t n, const uint32_t *chain,
                            double *first, double *second);

/* Element k of sali_rng_uniform_f64 alone. */
double sali_rng_uniform_at(const sali_stream *stream, uint32_t k);

/* n standard normals (Box-Muller in double precision on the f64 uniforms). */
void sali_rng_normal(const sali_stream *stream, int64_t n, double *out);

/* n standard normals in single precision (Box-Muller on the words themselves, two a pair; errors of
 * a few 1e-7; at most 6.6). Not the numbers of sali_rng_normal. Element k does not depend on n.
 * Vectorised. */
void sali_rng_normal_f32(const sali_stream *stream, int64_t n, float *out);

/* An unbiased integer in [0, bound), element k of the stream; bound in 1 .. 2^32 - 1.
 * (Lemire's multiply-shift on 64 bits: bias below 2^-32.) */
uint32_t sali_rng_below(const sali_stream *stream, uint32_t k, uint32_t bound);

/* A uniformly random choice of m distinct integers of [0, n) in random order, m <= n, into out;
 * `work` holds n entries and is overwritten (partial Fisher-Yates). */
void sali_rng_choose(const sali_stream *stream, uint32_t n, uint32_t m, uint32_t *work,
                     uint32_t *out);

#endif

/* SPDX-License-Identifier: MIT */
/* What the measurements of saltus bench share. */
#ifndef BENCH_H
#define BENCH_H

#include "cli/cli.h"

struct bench_case;

/* Of a step of one chain: operations in products of matrices and elsewhere, bytes of memory; or of
 * the machine, how many of each a second. */
typedef struct bench_work {
    double products, arithmetic, bytes;
} bench_work;

/* One thing measured. */
typedef struct bench_line {
    const struct bench_case *bench;
    char sampler[64];
    double rate;  /* steps a second */
    double peer;  /* the other program's, 0: unknown */
    double bound; /* seconds of a step that the machine needs at least; 0: unknown */
    double sampling_ms, gradient_ms; /* of a training iteration, on average; 0: no training */
} bench_line;

typedef struct bench_lines {
    int64_t n;
    bench_line *lines;
} bench_lines;

typedef struct bench_options {
    int64_t batch, threads, dim, side, states, steps; /* 0: the case's */
    double seconds;
    const char *samplers, *peer;
    const bench_work *rates; /* the machine's; NULL: no bounds are wanted */
    bench_lines *lines;      /* NULL: each is printed as it comes */
} bench_options;

/* A case: a model, and what is measured of it. */
typedef struct bench_case {
    const char *name;
    const char *specification;         /* with %lld for the size, and another for the states */
    int64_t size;                      /* the usual one */
    const char *size_option;           /* that changes it: "dim" or "side"; NULL: none */
    int64_t states;                    /* the usual number, where there is a choice */
    int64_t batch;                     /* the usual number of chains; 0: 50 */
    const char *samplers;              /* those that do not exist are left out */
    double step_size;                  /* of samplers that have one */
    sal_dtype dtype;                   /* 0: the model's usual one */
    double preconditioner;             /* of pavg: this times the identity; 0: its own choice */
    const char *peer_case;             /* torch_baseline.py's name of the case; NULL: it has none */
    const char *peer_line;             /* what it calls a training; NULL: as here */
    bool sweeps;                       /* a step is one of every variable, as the peer counts */
    bool value_too;                    /* measure the value alone as well */
    const sal_train_options *training; /* of bench_training */
    int64_t rows;                      /* of its data; 0: as many as the batch */
    /* The least work of a step of one chain; NULL: unknown. */
    bench_work (*work)(const struct bench_case *c, const bench_options *o, const char *sampler);
    int (*measure)(const struct bench_case *c, const bench_options *o, sal_model *model);
} bench_case;

extern const bench_case bench_cases[];
extern const size_t bench_n_cases;

int bench_samplers(const bench_case *c, const bench_options *o, sal_model *model);
int bench_gradient(const bench_case *c, const bench_options *o, sal_model *model);
int bench_training(const bench_case *c, const bench_options *o, sal_model *model);

/* Seconds of some monotonic clock. */
double bench_clock(void);

/* The median of n >= 1 numbers, which are sorted by it. */
double bench_median(double *numbers, int64_t n);

/* The median time of one call of what `work` does `calls` times, from runs of at least 20 ms that
 * together take `seconds`. */
double bench_time(void (*work)(void *context, int64_t calls), void *context, double seconds);

/* The case's number of chains, size and number of states, or those asked for. */
int64_t bench_batch(const bench_case *c, const bench_options *o);
int64_t bench_size(const bench_case *c, const bench_options *o);
int64_t bench_states(const bench_case *c, const bench_options *o);

/* Steps of a training iteration: the case's, or those asked for. */
int64_t bench_steps(const bench_case *c, const bench_options *o);

/* Report one figure: print a JSON line, or append to o->lines. */
int bench_print_line(const bench_options *o, const bench_line *line);
int bench_print(const bench_case *c, const bench_options *o, const char *sampler, double rate);

/* The head of the table; and what o->lines holds as rows of it or as JSON lines, which empties it.
 */
void bench_print_head(const bench_options *o);
int bench_print_lines(const bench_options *o, bool json);

/* What this machine does in a second (an exit code); and the seconds in which it does the work of a
 * step of the batch, 0 where that is unknown: products and arithmetic one after the other, memory
 * meanwhile. Faster ways, such as Winograd's for convolutions, need less. */
int bench_rates(const bench_options *o, bench_work *rates);
double bench_bound(const bench_case *c, const bench_options *o, const char *sampler);

/* Run the peer on a case, and put its figures beside ours in o->lines. */
int bench_ask_peer(const bench_case *c, const bench_options *o);

#endif

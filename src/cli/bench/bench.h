/* SPDX-License-Identifier: MIT */
/* What the measurements of saltus bench share. */
#ifndef BENCH_H
#define BENCH_H

#include "cli/cli.h"

struct bench_case;

/* The work of a step of one chain: operations in matrix products and elsewhere, and bytes of
 * memory. Or what the machine does of each in a second. */
typedef struct bench_work {
    double products, arithmetic, bytes;
} bench_work;

/* One thing measured. */
typedef struct bench_line {
    const struct bench_case *bench;
    char sampler[64];
    double rate;  /* steps a second */
    double peer;  /* the other program's rate, 0: unknown */
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
    const char *specification; /* with %lld for the size, and another for the states */
    int64_t size;              /* default */
    const char *size_option;   /* the option that changes the size: "dim" or "side"; NULL: none */
    int64_t states;            /* default number of states, where there is a choice */
    int64_t batch;             /* default number of chains; 0: 50 */
    const char *samplers;      /* unknown ones are skipped */
    double step_size;          /* of samplers that have one */
    sal_dtype dtype;           /* 0: the model's usual one */
    double preconditioner;     /* for pavg: this multiple of the identity; 0: its own choice */
    const char *peer_case;     /* torch_baseline.py's name of the case; NULL: it has none */
    const char *peer_line;     /* its name for a training; NULL: as here */
    bool sweeps;               /* a step visits every variable, as the peer counts */
    bool value_too;            /* measure the value alone as well */
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

/* The median of n >= 1 numbers; sorts them. */
double bench_median(double *numbers, int64_t n);

/* The median time of one call. work(context, calls) makes `calls` calls; each timed run takes at
 * least 20 ms, and all together about `seconds`. */
double bench_time(void (*work)(void *context, int64_t calls), void *context, double seconds);

/* The number of chains, size and number of states: from the options, or the case's. */
int64_t bench_batch(const bench_case *c, const bench_options *o);
int64_t bench_size(const bench_case *c, const bench_options *o);
int64_t bench_states(const bench_case *c, const bench_options *o);

/* Steps of a training iteration: from the options, or the case's. */
int64_t bench_steps(const bench_case *c, const bench_options *o);

/* Report one figure: print a JSON line, or append to o->lines. */
int bench_print_line(const bench_options *o, const bench_line *line);
int bench_print(const bench_case *c, const bench_options *o, const char *sampler, double rate);

/* Print the head of the table; and print the lines in o->lines as rows of the table or as JSON,
 * then empty the list. */
void bench_print_head(const bench_options *o);
int bench_print_lines(const bench_options *o, bool json);

/* Measure what this machine does in a second; returns an exit code. And the time that the work of a
 * step of the batch takes at these rates, 0 if unknown: products and arithmetic one after the
 * other, memory at the same time. Faster algorithms, such as Winograd's for convolutions, need
 * less. */
int bench_rates(const bench_options *o, bench_work *rates);
double bench_bound(const bench_case *c, const bench_options *o, const char *sampler);

/* Run the peer on a case, and store its figures in o->lines. */
int bench_ask_peer(const bench_case *c, const bench_options *o);

#endif

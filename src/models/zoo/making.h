/* SPDX-License-Identifier: MIT */
/* A ready-made model while it is being made. The record's `formula` gets variables, parameters and
 * memory from the functions below, and stores in sali_making what remains to be done once f is
 * known. Borrowed memory is freed in any case. If the variables could not be made, `tape` is NULL:
 * recording then does nothing, formulas need no check, and sali_making_make returns the error. */
#ifndef SALI_MAKING_H
#define SALI_MAKING_H

#include "core/memory.h"
#include "core/rng.h"
#include "models/decoding.h"
#include "models/statistic.h"
#include "models/zoo/builtin.h"
#include "models/zoo/random_graph.h"

/* Most parameters with starting values. */
#define SALI_STARTS 8

/* Where a parameter starts: at `values`; or normal with deviation `number`; or all at `number`. */
typedef struct sali_start_value {
    const char *parameter;
    const double *values;
    double number;
    bool random;
    uint32_t index; /* keeps the parameters' random streams apart */
} sali_start_value;

typedef struct sali_making {
    const sali_builtin *builtin;
    const char *specification;   /* of the model, without the key `file` */
    const double *values;        /* values[k] is the value of builtin->settings[k] */
    const sali_content *content; /* content of the file; NULL: no file */
    sal_dtype dtype;
    sal_error *err;
    sal_tape *tape;    /* tape over the variables, once they are known */
    sal_status status; /* error of making the variables */
    uint64_t seed;     /* seed of random numbers: the value of the key `seed` */
    int n_starts;
    sali_start_value starts[SALI_STARTS];
    const sali_statistic *statistic; /* statistic of the model; its data is kept memory */
    void *statistic_data;
    const sali_decoding *decoding; /* decoding of the model, which uses the same data; NULL: none */
    /* Called with the new model, to complete it; NULL: nothing remains to be done. */
    sal_status (*finish)(struct sali_making *m, sal_model *model);
    const void *finish_data;
    sali_remark remark;       /* remark on the content of the file, for the model */
    sali_memory memory, kept; /* live until the model is made; until the model is destroyed */
    sali_graph graph;
} sali_making;

/* Zero-filled memory until the model is made (BORROW), or until the model is destroyed (KEEP); NULL
 * when out of memory. */
#define SALI_BORROW(m, type, count) SALI_TAKE(&(m)->memory, type, count)
#define SALI_KEEP(m, type, count) SALI_TAKE(&(m)->kept, type, count)

/* Create the variables, n blocks or a single one, and the tape; returns the state. Call one of
 * these once for each model. */
sal_expr sali_making_blocks(sali_making *m, int64_t n, const sal_block *blocks);
sal_expr sali_making_state(sali_making *m, const char *block, sal_kind kind, int64_t count,
                           int64_t states);

/* The same for the sites of sequences, whose `states` are the letters of an alphabet; "" or NULL:
 * they have no letters. */
sal_expr sali_making_sites(sali_making *m, int64_t count, int64_t states, const char *letters);

/* Record a parameter and its starting values: `values` [size of the shape], which must live until
 * the model is made; one number in all entries; normal numbers with a standard deviation, from
 * random stream `index`; a scalar parameter with one number. */
sal_expr sali_making_param(sali_making *m, const char *name, sal_shape shape, const double *values);
sal_expr sali_making_filled(sali_making *m, const char *name, sal_shape shape, double number);
sal_expr sali_making_normal(sali_making *m, const char *name, sal_shape shape, double deviation,
                            uint32_t index);
sal_expr sali_making_number(sali_making *m, const char *name, double number);

/* The graph of the file or, without a file, a random graph or a square lattice, which live until
 * the model is made. A random graph also obeys the settings graph, most, density, group and
 * tightness, if the model has them.
 * Errors as sali_graph_check (without energies), sali_random_graph_degree, sali_random_graph_draw.
 * Params:  degree   mean number of neighbours, instead of spec.p; negative: spec.p holds. */
sal_status sali_making_graph(sali_making *m, sali_random_graph spec, double degree,
                             const sali_graph **graph);
sal_status sali_making_lattice(sali_making *m, int64_t side, bool cyclic, const sali_graph **graph);

/* n copies of a number, until the model is made; NULL when out of memory. */
double *sali_making_repeat(sali_making *m, int64_t n, double number);

/* Random stream number `index` of the key `seed`. */
static inline sali_stream sali_making_stream(const sali_making *m, uint32_t index)
{
    return (sali_stream){ .seed = m->seed, .chain = index, .purpose = SALI_RNG_PARAMS };
}

/* Make the model of a record. Returns: as sali_builtin_make. On failure *model may be set and is
 * then to be destroyed. */
sal_status sali_making_make(const sali_builtin *builtin, const char *specification,
                            const double *values, const sali_content *content, sal_dtype dtype,
                            sal_model **model, sal_error *err);

/* ---- settings that many models have */

/* clang-format off */
#define SALI_SEED(of) { "seed", 0, 0, 4294967295.0, true, "seed of " of, NULL }
#define SALI_DEVIATION(standard, of) \
    { "scale", standard, 0, 1e6, false, "standard deviation of " of, NULL }
#define SALI_BETA { "beta", 1, 0, 1e6, false, "inverse temperature", NULL }
#define SALI_THETA(standard) \
    { "theta", standard, -1e6, 1e6, false, "coupling; an edge counts twice", NULL }
#define SALI_CYCLIC(standard) \
    { "cyclic", standard, 0, 1, true, "1: a torus, 0: free borders", NULL }
#define SALI_DEGREE { "degree", 4, 0, 1e7, false, "mean number of neighbours", NULL }
#define SALI_DENSITY \
    { "density", 0, 0, 1, false, "probability of an edge, in place of degree; 0: by degree", NULL }
#define SALI_GRAPH_MOST \
    { "most", 0, 0, 1e7, true, "the number of nodes is drawn from nodes to most; 0: nodes", NULL }
#define SALI_GRAPH_FAMILY \
    { "graph", SALI_GRAPH_ER, 0, 0, true, \
      "family of random graphs: of independent edges; cliques with links; preferential " \
      "attachment; grid on a torus; union of two planar graphs", sali_graph_choices }
#define SALI_GRAPH_GROUP \
    { "group", 0, 0, 1e7, true, "nodes of a clique of rb, or of a row of torus; 0: chosen", NULL }
#define SALI_GRAPH_TIGHTNESS \
    { "tightness", 0.6, 0.01, 0.99, false, "of rb: part of the possible links of two cliques", \
      NULL }
#define SALI_EDGE_WEIGHTS \
    { "weights", SALI_WEIGHTS_ONE, 0, 2, true, "1, or -1 or 1 at random, or standard normal", \
      sali_edge_weights_choices }
/* clang-format on */

#endif

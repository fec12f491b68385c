/* SPDX-License-Identifier: MIT */
/* The ready-made models: one file and one line in the list each. */
#ifndef SALI_BUILTIN_H
#define SALI_BUILTIN_H

#include <saltus/train.h>
#include "core/specification.h"
#include "models/content.h"
#include "models/model.h"

/* What suits training, for data like those that the model was made for. Figures are in
 * examples/training/README.md. */
typedef struct sali_training {
    const char *settings; /* "key=value" of the specification, unless the key is given; or NULL */
    bool rbm_first; /* that within f, of as many units as the key `units` says, is trained first */
    sal_train_options options; /* zeros: the library's defaults */
} sali_training;

struct sali_making;

typedef struct sali_builtin {
    const char *name;
    const char *doc;
    const char *source;
    sal_dtype dtype;
    sal_setting settings[SAL_SETTINGS]; /* ends with a NULL name */
    /* f, whose model is made by models/zoo/making.h. */
    sal_status (*formula)(struct sali_making *m, sal_expr *f);
    /* Of what kind the file named by the key `file` is; 0: no files. Errors about what it holds are
     * SAL_ERR_DATA and need not name it. */
    sali_content_kind content;
    bool needs_file;
    bool by_density; /* its random graph is one of a density, which 0 is too; else of a degree */
    uint32_t unused; /* bit k: settings[k] means nothing beside a file, and is refused */
    /* Starting values for training on data with this mean by coordinate [N] (values in 0..1);
     * NULL: all parameters zero. */
    sal_status (*init)(sal_model *model, uint64_t seed, const double *mean, sal_error *err);
    const sali_training *training; /* NULL: nothing is known to suit */
    /* Of a net, in its place: where the specification asks for levels of noise; where it says that
     * there are none, levels=0; and where no RBM is added, as variables are not binary or the
     * specification says units=0 or base=1. NULL: it is no net. */
    const sali_training *levelled, *layered, *plain;
} sali_builtin;

#define SALI_BUILTIN_LIST(X) \
    X(ising)                 \
    X(ising_er)              \
    X(ising_dense)           \
    X(ising_cubic)           \
    X(segmentation)          \
    X(potts)                 \
    X(potts_dense)           \
    X(potts_alignment)       \
    X(cellular_potts)        \
    X(max_cut)               \
    X(independent_set)       \
    X(clique)                \
    X(rbm)                   \
    X(ordinal_poly2)         \
    X(ordinal_poly4)         \
    X(bernoulli)             \
    X(categorical)           \
    X(poisson)               \
    X(regression)            \
    X(usps_conv)             \
    X(mnist_conv)            \
    X(mnist_resnet)          \
    X(conv)                  \
    X(strided_conv)          \
    X(resnet)                \
    X(mlp)                   \
    X(random_factors)        \
    X(hmm)                   \
    X(fhmm)                  \
    X(crf)                   \
    X(mixture)               \
    X(facility_location)

#define SALI_BUILTIN_DECLARE(name) extern const sali_builtin sali_builtin_##name;
SALI_BUILTIN_LIST(SALI_BUILTIN_DECLARE)
#undef SALI_BUILTIN_DECLARE

/* The record of a name, up to its ':' or end. Returns: SAL_ERR_NOT_FOUND. */
sal_status sali_builtin_find(const char *specification, const sali_builtin **out, sal_error *err);

/* A model of what a file holds, of the kind that the record asks for, or without one (NULL). The
 * specification has no key `file`. Returns: those of sal_model_open. */
sal_status sali_builtin_make(const char *specification, const sali_content *content,
                             sal_dtype dtype, sal_model **model, sal_error *err);

/* Whether a specification names a model of a random graph; and that graph, by its settings, for
 * sali_graph_free. Returns: those of sali_builtin_parse and sali_making_graph. */
bool sali_builtin_has_graph(const char *specification);
sal_status sali_builtin_graph(const char *specification, sali_graph *out, sal_error *err);

/* The record of a specification "name:key=value,...", and its settings' values
 * [SAL_SETTINGS]. Returns: SAL_ERR_NOT_FOUND; SAL_ERR_ARGUMENT. */
sal_status sali_builtin_parse(const char *specification, const sali_builtin **out, double *values,
                              sal_error *err);

/* Refuse settings that mean nothing for `what` ("this file", "graph=rb"), bit k of `keys` for
 * settings[k], unless they have their defaults. Returns: SAL_ERR_ARGUMENT. */
sal_status sali_builtin_refuse(const sali_builtin *b, const double *values, uint32_t keys,
                               const char *what, sal_error *err);

/* Set a parameter to independent normal values with this standard deviation; `index` keeps the
 * parameters' random streams apart. */
sal_status sali_builtin_randomise(sal_model *model, const char *parameter, double deviation,
                                  uint64_t seed, uint32_t index, sal_error *err);

/* Set all entries of a parameter to one value; or each one to a function of that of x. */
sal_status sali_builtin_fill(sal_model *model, const char *parameter, double value, sal_error *err);
sal_status sali_builtin_map(sal_model *model, const char *parameter, const double *x,
                            double (*of)(double x), sal_error *err);

/* The logit of a mean in 0..1 that is kept 0.01 from both. */
double sali_builtin_logit(double mean);

/* Numbers in a parameter; 0: there is none of that name. */
int64_t sali_builtin_parameter_size(const sal_model *model, const char *parameter);

#endif

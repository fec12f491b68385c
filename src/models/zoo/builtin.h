/* SPDX-License-Identifier: MIT */
/* The ready-made models: one file and one line in the list each. */
#ifndef SALI_BUILTIN_H
#define SALI_BUILTIN_H

#include <saltus/train.h>
#include "core/specification.h"
#include "models/content.h"
#include "models/model.h"

/* Settings and options that suit training, for data like the data that the model was made for.
 * Figures are in examples/training/README.md. */
typedef struct sali_training {
    const char *settings; /* "key=value,..", added for keys not in the specification; or NULL */
    bool rbm_first;       /* train the RBM within f, which has `units` units, first */
    sal_train_options options; /* zeros: the library's defaults */
    double activation_rate;    /* learning rate with SAL_SPARSITY_ACTIVATE; 0: as usual */
} sali_training;

struct sali_making;

typedef struct sali_builtin {
    const char *name;
    const char *doc;
    const char *source;
    sal_dtype dtype;
    sal_setting settings[SAL_SETTINGS]; /* ends with a NULL name */
    /* Record f on m->tape (models/zoo/making.h). */
    sal_status (*formula)(struct sali_making *m, sal_expr *f);
    /* Kind of the file that the key `file` names; 0: no files. Errors in its content are
     * SAL_ERR_DATA and need not name the file. */
    sali_content_kind content;
    bool needs_file;
    bool states_of_data; /* training takes the setting states from the data, if the specification
                            has kind=categorical or kind=ordinal without states or alphabet, and the
                            setting alphabet, if it has kind=categorical without it */
    bool by_density; /* true: `density` (0 allowed) sets the random graph; false: `degree` does */
    uint32_t unused; /* bit k: settings[k] means nothing beside a file, and is refused */
    /* Starting values for training on data with this mean by coordinate [N] (values in 0..1);
     * NULL: all parameters zero. */
    sal_status (*init)(sal_model *model, uint64_t seed, const double *mean, sal_error *err);
    const sali_training *training; /* NULL: no settings are known to suit */
    /* For nets, instead of `training`: `levelled` if the specification has levels of noise;
     * `layered` if it has levels=0; `plain` if no RBM is added, because variables are not binary or
     * the specification has units=0 or base=1. NULL: the model is no net. */
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
    X(potts_parameters)      \
    X(cellular_potts)        \
    X(max_cut)               \
    X(max_sat)               \
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

/* Set *out to the record of the model named before the ':' or the end of a specification. Returns:
 * SAL_ERR_NOT_FOUND. */
sal_status sali_builtin_find(const char *specification, const sali_builtin **out, sal_error *err);

/* Make a model of the content of a file, which must be of the record's kind, or without a file
 * (NULL). The specification has no key `file`. Returns: as sal_model_open. */
sal_status sali_builtin_make(const char *specification, const sali_content *content,
                             sal_dtype dtype, sal_model **model, sal_error *err);

/* Whether a specification names a model of a random graph; and the random graph of its settings,
 * which the caller frees (sali_graph_free). Returns: as sali_builtin_parse and
 * sali_making_graph. */
bool sali_builtin_has_graph(const char *specification);
sal_status sali_builtin_graph(const char *specification, sali_graph *out, sal_error *err);

/* Set *out to the record of a specification "name:key=value,...", and `values` [SAL_SETTINGS] to
 * the values of its settings; a setting `alphabet` has letters and no value (see below). Returns:
 * SAL_ERR_NOT_FOUND; SAL_ERR_ARGUMENT. */
sal_status sali_builtin_parse(const char *specification, const sali_builtin **out, double *values,
                              sal_error *err);

/* The letters that the setting `alphabet` of a specification gives; "": it gives none, or the model
 * has no such setting. Returns: as sali_builtin_parse. */
sal_status sali_builtin_alphabet(const char *specification, char letters[SAL_ALPHABET_ROOM],
                                 sal_error *err);

/* The vartype that the setting `vartype` of a specification asks of a graph's file; NONE: the model
 * has no such setting, or it asks for nothing. Returns: as sali_builtin_parse. */
sal_status sali_builtin_vartype(const char *specification, sali_vartype *vartype, sal_error *err);

/* SAL_ERR_ARGUMENT if a setting that has no meaning for `what` ("this file", "graph=rb") differs
 * from its default. Bit k of `keys`: settings[k] has no meaning. */
sal_status sali_builtin_refuse(const sali_builtin *b, const double *values, uint32_t keys,
                               const char *what, sal_error *err);

/* Set a parameter to independent normal values with this standard deviation; `index` keeps the
 * parameters' random streams apart. */
sal_status sali_builtin_randomise(sal_model *model, const char *parameter, double deviation,
                                  uint64_t seed, uint32_t index, sal_error *err);

/* Set all entries of a parameter to one value; or entry i to of(x[i]). */
sal_status sali_builtin_fill(sal_model *model, const char *parameter, double value, sal_error *err);
sal_status sali_builtin_map(sal_model *model, const char *parameter, const double *x,
                            double (*of)(double x), sal_error *err);

/* The logit of a mean, which is first clamped to 0.01 .. 0.99. */
double sali_builtin_logit(double mean);

/* Number of entries of a parameter; 0: there is no parameter of that name. */
int64_t sali_builtin_parameter_size(const sal_model *model, const char *parameter);

#endif

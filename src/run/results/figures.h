/* SPDX-License-Identifier: MIT */
/* The figures of a run's summary: their names, their places in the JSON, and what they mean. */
#ifndef SALI_FIGURES_H
#define SALI_FIGURES_H

#include <saltus/program.h>
#include <saltus/sample.h>

/* How a figure that is not a single field of a simple type is read; the others have the
 * sal_option_kind of their field. */
enum {
    SALI_FIGURE_LIST = SAL_OPTION_TEXT + 1, /* an array of int64_t; -1 fills what is left of it */
    SALI_FIGURE_REPLICAS,                   /* an array with a real for each replica */
    SALI_FIGURE_PAIRS,                      /* the same for each pair of neighbours */
    SALI_FIGURE_AGREEMENT,                  /* whether the chains agree; no field has it */
    SALI_FIGURE_WARNINGS,                   /* the texts of sal_run_warning */
    SALI_FIGURE_BEST,                       /* the codes of sal_run_best */
    SALI_FIGURE_DECODED                     /* the codes of sal_run_decoded */
};

/* Which runs have a figure. */
typedef enum sali_figure_when {
    SALI_ALWAYS,
    SALI_WITH_RHAT, /* with an R-hat; for other runs the JSON has null */
    SALI_WITH_AIM,  /* the JSON of other runs has no entry, here and below */
    SALI_WITH_STATISTIC,
    SALI_WITH_TEMPERING,
    SALI_WITH_HOUDAYER,
    SALI_WITH_LEVELS,
    SALI_WITH_ANNEALING,
    SALI_WITH_BEST,
    SALI_WITH_DECODED
} sali_figure_when;

typedef struct sali_figure {
    const char *field; /* of sal_run_summary; NULL: the figure is no field */
    int kind;          /* sal_option_kind or SALI_FIGURE_* */
    size_t offset;     /* of the field */
    size_t size;       /* of the field, in bytes */
    sali_figure_when when;
    const char *key;  /* in the JSON: "chains", or "ess.min" in an object "ess"; NULL: left out */
    const char *unit; /* NULL: none */
    const char *doc;  /* what the figure means; of a field that is left out, why it is */
} sali_figure;

/* Figure k, in the order of the JSON; NULL past the last. */
const sali_figure *sali_figure_at(int64_t k);

/* Whether the run of a summary has a figure. */
bool sali_figure_applies(const sali_figure *figure, const sal_run_summary *s);

/* The runs that have a figure, in words; NULL: all. */
const char *sali_figure_condition(const sali_figure *figure);

#endif

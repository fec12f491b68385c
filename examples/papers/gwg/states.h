/* Samples of states, and how far they are from those of another sampler. */
#ifndef STATES_H
#define STATES_H

#include <saltus/figure.h>
#include <saltus/saltus.h>
#include "../panel.h"
#include "../program.h"

/* Run, and take the last state of each chain: codes [chains x V], of two-level variables. */
sal_status states_at_end(sal_model *model, const sal_run_options *options, uint8_t *states,
                         sal_error *err);

void states_to_bytes(int64_t n, const int32_t *codes, uint8_t *bytes);

/* Codes [rows x V] that are 1 with probability p[v], independently. */
void states_draw(int64_t rows, int64_t V, const double *p, uint64_t seed, int32_t *codes);

/* n standard normals. */
void states_normals(int64_t n, uint64_t seed, double *out);

/* The squared MMD of two samples of states by both estimators, as decimal logarithms: what figures
 * of the paper's programs show is that of the V-statistic. The U-statistic has a noise of about
 * 1e-4 with 100 states: what is less, or negative, counts as that, -4. */
enum { U_STATISTIC, V_STATISTIC, ESTIMATORS };
extern const char *const estimator_names[ESTIMATORS];
sal_status log10_mmd2(int64_t V, int64_t na, const uint8_t *a, int64_t nb, const uint8_t *b,
                      double out[ESTIMATORS], sal_error *err);

/* Panels with the title and what else `common` has, one an estimator; and all of them printed and
 * drawn. */
void panels_make(const panel *common, panel panels[ESTIMATORS]);
void panels_show(const panel panels[ESTIMATORS], sal_figure *figure);

/* Whether the program is to take the settings of the authors' program: the word "as-run" comes
 * first, and is taken from the arguments. */
bool as_run(arguments *a);

#endif

/* SPDX-License-Identifier: MIT */

/* Sets under a limit on their cost: f = -inf where sum_i cost_i s_i exceeds it. */
#ifndef SALI_BUDGET_H
#define SALI_BUDGET_H

#include <saltus/model.h>

/* The model of f under the limit, over a tape of one block of binary variables; destroys the tape.
 * Chains that start outside are led inside by a feasibility model, minus the excess.
 * Params:  cost [variables], whole numbers of 0 or more, so that their sums are exact. */
sal_status sali_budget_finish(sal_tape *tape, sal_expr f, const double *cost, double limit,
                              const char *name, sal_model **out, sal_error *err);

#endif

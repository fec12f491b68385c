#include "models/zoo/budget.h"

#include "ad/tape.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/tape_model.h"

/* cost's - limit */
static sal_expr excess(sal_tape *tape, const double *cost, double limit)
{
    int64_t n = tape->space->n_variables;
    sal_expr c = sal_constant(tape, cost, SAL_SHAPE(n));
    return sal_sub(sal_dot(c, sal_state(tape)), sal_scalar(tape, limit));
}

/* log min(1, max(0, 1 - excess)): 0 within the limit, -inf from 1 above it on. Derivative 0. */
static sal_expr barrier(sal_tape *tape, const double *cost, double limit)
{
    sal_expr one = sal_scalar(tape, 1);
    return sal_log(sal_minimum(one, sal_relu(sal_sub(one, excess(tape, cost, limit)))));
}

static sal_status make_guide(const sal_space *space, const double *cost, double limit,
                             sal_model **out, sal_error *err)
{
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr f = sal_neg(sal_relu(excess(tape, cost, limit)));
    return sali_builtin_finish(tape, f, "feasibility", out, err);
}

sal_status sali_budget_finish(sal_tape *tape, sal_expr f, const double *cost, double limit,
                              const char *name, sal_model **out, sal_error *err)
{
    sal_model *model = NULL, *guide = NULL;
    sal_status status = make_guide(tape->space, cost, limit, &guide, err);
    if (status != SAL_OK) {
        sal_tape_destroy(tape);
        return status;
    }
    status = sali_builtin_finish(tape, sal_add(f, barrier(tape, cost, limit)), name, &model, err);
    if (status != SAL_OK) {
        sal_model_destroy(guide);
        return status;
    }
    sali_tape_model_set_guide(model, guide);
    *out = model;
    return SAL_OK;
}

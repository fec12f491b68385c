/* SPDX-License-Identifier: MIT */
/* A frozen formula over a space, in double, with a workspace: for tests of values. */
#ifndef FORMULA_H
#define FORMULA_H

#include "test.h"

#include "ad/workspace.h"

#define FORMULA_CHAINS 128

typedef struct formula {
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
} formula;

/* A tape over one block of variables. */
static inline sal_tape *formula_tape(sal_kind kind, int64_t count, int32_t states)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "x", .kind = kind, .count = count, .states = states };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

/* Takes the tape. */
static inline formula formula_freeze(sal_tape *tape, sal_expr f)
{
    formula made = { 0 };
    sal_error err = { 0 };
    ck_ok(sali_program_create(tape, f, &made.program, &err), &err);
    ck_ok(sali_params_create(made.program, &made.params, &err), &err);
    ck_ok(sali_workspace_create(made.program, made.params, FORMULA_CHAINS, 3, &made.ws, &err),
          &err);
    sal_tape_destroy(tape);
    return made;
}

static inline void formula_melt(formula f)
{
    sali_workspace_destroy(f.ws);
    sali_params_destroy(f.params);
    sali_program_destroy(f.program);
}

/* f at one point, and its gradient if not NULL. */
static inline double formula_at(const formula *f, const double *x, double *gradient)
{
    double value, unused[1024];
    sali_workspace_gradient(f->ws, 1, NULL, x, &value, gradient ? gradient : unused);
    return value;
}

#endif

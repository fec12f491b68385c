/* SPDX-License-Identifier: MIT */
#include "models/formula/formula.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/formula/parser.h"

#define LONGEST (1 << 20)

/* Characters before and after a mistake that a message shows. */
#define SHOWN 20

/* Create the space of the declared blocks. On failure *space may be set, and is to be destroyed. */
static sal_status make_space(const sali_formula_parser *p, sal_space **space, sal_error *err)
{
    *space = sal_space_create();
    sal_status status = *space ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < p->n_blocks; k++) {
        const sal_block block = sali_formula_space_block(&p->blocks[k]);
        status = sal_space_add(*space, &block, err);
    }
    return status;
}

/* Make the model of f, which is the rest of the text. A mistake returns SAL_ERR_DATA without a
 * message. On failure *model may be set. */
static sal_status make_model(sali_formula_parser *p, sal_dtype dtype, sal_model **model,
                             sal_error *err)
{
    sal_space *space = NULL;
    sal_status status = make_space(p, &space, err);
    p->tape = status ? NULL : sal_tape_create(space, dtype);
    if (status == SAL_OK && !p->tape) {
        status = sali_fail_memory(err);
    }
    for (int64_t k = 0; status == SAL_OK && k < p->n_blocks; k++) {
        p->blocks[k].x = sal_state_block(p->tape, p->blocks[k].name);
    }
    if (status == SAL_OK) {
        sal_expr f = sali_formula_expression(p);
        status = p->mistake[0] ? SAL_ERR_DATA : sal_model_from_tape(p->tape, f, model, err);
    }
    for (int64_t k = 0; status == SAL_OK && k < p->n_parameters; k++) {
        status = sal_model_set_params(*model, p->parameters[k].name, p->parameters[k].values, err);
    }
    sal_tape_destroy(p->tape);
    sal_space_destroy(space);
    return status;
}

sal_status sali_formula_read(const char *text, sal_dtype dtype, sal_model **model, int64_t *place,
                             sal_error *err)
{
    sali_formula_parser p = { .text = text, .at = text };
    sal_model *made = NULL;
    *place = -1;
    if (strlen(text) > LONGEST) {
        *place = LONGEST;
        return sali_fail(err, SAL_ERR_DATA, "the formula has more than %d characters", LONGEST);
    }
    sal_status status =
        sali_formula_declarations(&p) ? make_model(&p, dtype, &made, err) : SAL_ERR_DATA;
    if (p.memory.refused) {
        status = sali_fail_memory(err);
    } else if (p.mistake[0]) {
        *place = p.place - text;
        status = sali_fail(err, SAL_ERR_DATA, "%s", p.mistake);
    }
    sali_memory_free(&p.memory);
    sali_free(p.blocks);
    sali_free(p.parameters);
    return SALI_GIVE(status, made, model, sal_model_destroy);
}

bool sali_formula_is(const char *specification)
{
    return strncmp(specification, SALI_FORMULA, strlen(SALI_FORMULA)) == 0;
}

sal_status sali_formula_open(const char *specification, sal_dtype dtype, sal_model **model,
                             sal_error *err)
{
    const char *text = specification + strlen(SALI_FORMULA);
    int64_t place;
    sal_status status = sali_formula_read(text, dtype ? dtype : SAL_F64, model, &place, err);
    if (status == SAL_OK || place < 0) {
        return status;
    }
    const int before = place < SHOWN ? (int)place : SHOWN;
    return sali_fail_prefix(err, status, "the formula at its character %lld, '%.*s' >> '%.*s'",
                            (long long)place + 1, before, text + place - before, SHOWN,
                            text + place);
}

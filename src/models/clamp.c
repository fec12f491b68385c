/* SPDX-License-Identifier: MIT */
#include "models/clamp.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"

typedef struct clamp_content {
    sali_memory memory; /* of the arrays */
    sal_model *inner;
    int32_t *fixed;   /* [inner V] code of a fixed variable, -1 of a free one */
    int64_t *free;    /* [n_free] inner index of each free variable */
    int64_t *real_of; /* [width] inner coordinate of each coordinate of the clamped model */
    int64_t n_free, width;
} clamp_content;

typedef struct clamp_workspace {
    sali_memory memory; /* of the arrays */
    const clamp_content *content;
    size_t element;
    sal_dtype dtype;
    void *inner_ws;
    int32_t *codes;     /* [chains x inner V] */
    void *x, *gradient; /* [chains x inner N] */
} clamp_workspace;

static void clamp_close(void *workspace)
{
    clamp_workspace *ws = workspace;
    if (!ws) {
        return;
    }
    if (ws->inner_ws) {
        ws->content->inner->ops->close(ws->inner_ws);
    }
    sali_memory_free(&ws->memory);
    sali_free(ws);
}

/* Fill codes and x of the fixed variables once; the rest is copied at every call. */
static void fill_fixed(clamp_workspace *ws, int64_t chains)
{
    const sal_space *space = ws->content->inner->space;
    for (int64_t c = 0; c < chains; c++) {
        int32_t *row = ws->codes + c * space->n_variables;
        for (int64_t v = 0; v < space->n_variables; v++) {
            row[v] = ws->content->fixed[v] < 0 ? 0 : ws->content->fixed[v];
        }
    }
    sali_model_embed(ws->content->inner, chains, ws->codes, ws->x);
}

static sal_status clamp_open(const sal_model *model, int64_t chains, unsigned wants, void **out,
                             sal_error *err)
{
    const clamp_content *content = model->content;
    const sal_model *inner = content->inner;
    clamp_workspace *ws = SALI_NEW(clamp_workspace);
    if (!ws) {
        return sali_fail_memory(err);
    }
    ws->content = content;
    ws->dtype = inner->dtype;
    ws->element = inner->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    ws->codes = SALI_TAKE(&ws->memory, int32_t, chains * inner->space->n_variables);
    ws->x = sali_memory_take(&ws->memory, chains * inner->space->width, ws->element);
    ws->gradient = sali_memory_take(&ws->memory, chains * inner->space->width, ws->element);
    sal_status status = sali_memory_status(&ws->memory, err);
    status = status ? status : inner->ops->open(inner, chains, wants, &ws->inner_ws, err);
    if (status != SAL_OK) {
        clamp_close(ws);
        return status;
    }
    fill_fixed(ws, chains);
    *out = ws;
    return SAL_OK;
}

/* Copy x [chains x width] of the free variables into the inner model's ws->x. */
static void scatter_coordinates(const clamp_workspace *ws, int64_t chains, const void *x)
{
    const clamp_content *content = ws->content;
    int64_t inner_width = content->inner->space->width;
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t k = 0; k < content->width; k++) {
            int64_t to = c * inner_width + content->real_of[k], from = c * content->width + k;
            if (ws->dtype == SAL_F32) {
                ((float *)ws->x)[to] = ((const float *)x)[from];
            } else {
                ((double *)ws->x)[to] = ((const double *)x)[from];
            }
        }
    }
}

/* Copy the free coordinates of the inner ws->gradient to `gradient` [chains x width]. */
static void gather_gradient(const clamp_workspace *ws, int64_t chains, void *gradient)
{
    const clamp_content *content = ws->content;
    int64_t inner_width = content->inner->space->width;
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t k = 0; k < content->width; k++) {
            int64_t from = c * inner_width + content->real_of[k], to = c * content->width + k;
            if (ws->dtype == SAL_F32) {
                ((float *)gradient)[to] = ((const float *)ws->gradient)[from];
            } else {
                ((double *)gradient)[to] = ((const double *)ws->gradient)[from];
            }
        }
    }
}

/* Codes of the inner model, in ws->codes, with the free variables set to `codes` [chains x n_free];
 * NULL if `codes` is NULL. */
static const int32_t *full_codes(clamp_workspace *ws, int64_t chains, const int32_t *codes)
{
    const clamp_content *content = ws->content;
    int64_t inner_variables = content->inner->space->n_variables;
    for (int64_t c = 0; codes && c < chains; c++) {
        for (int64_t k = 0; k < content->n_free; k++) {
            ws->codes[c * inner_variables + content->free[k]] = codes[c * content->n_free + k];
        }
    }
    return codes ? ws->codes : NULL;
}

static void clamp_value(void *workspace, int64_t chains, const int32_t *codes, const void *x,
                        double *f)
{
    clamp_workspace *ws = workspace;
    scatter_coordinates(ws, chains, x);
    ws->content->inner->ops->value(ws->inner_ws, chains, full_codes(ws, chains, codes), ws->x, f);
}

static void clamp_gradient(void *workspace, int64_t chains, const int32_t *codes, const void *x,
                           double *f, void *gradient)
{
    clamp_workspace *ws = workspace;
    scatter_coordinates(ws, chains, x);
    ws->content->inner->ops->gradient(ws->inner_ws, chains, full_codes(ws, chains, codes), ws->x, f,
                                      ws->gradient);
    gather_gradient(ws, chains, gradient);
}

static void clamp_destroy(void *object)
{
    clamp_content *content = object;
    sal_model_destroy(content->inner);
    sali_memory_free(&content->memory);
    sali_free(content);
}

static sal_status clamp_feasibility(const sal_model *model, sal_model **out, sal_error *err);

/* The factors of the inner model; 0 also if the inner model has no such list or memory runs out. */
static int64_t clamp_violated(const sal_model *model, const int32_t *codes, int64_t most,
                              int64_t *factors)
{
    const sal_model *inner = ((const clamp_content *)model->content)->inner;
    int32_t *full = SALI_NEW_ARRAY(int32_t, inner->space->n_variables);
    int64_t n = 0;
    if (full && inner->ops->violated) {
        sali_clamp_expand(model, 1, codes, full);
        n = inner->ops->violated(inner, full, most, factors);
    }
    sali_free(full);
    return n;
}

static uint64_t clamp_version(const sal_model *model)
{
    return sali_model_version(((const clamp_content *)model->content)->inner);
}

static const sali_model_ops clamp_ops = {
    .open = clamp_open,
    .close = clamp_close,
    .value = clamp_value,
    .gradient = clamp_gradient,
    .feasibility = clamp_feasibility,
    .violated = clamp_violated,
    .version = clamp_version,
    .destroy = clamp_destroy,
};

/* ---- making one */

/* Fill fixed [V] with codes[k] for each variables[k] (k < n), and with -1 for all other variables.
 * A variable may be listed again with the same code. */
static sal_status mark_fixed(const sal_model *model, int64_t n, const int64_t *variables,
                             const int32_t *codes, int32_t *fixed, sal_error *err)
{
    const sal_space *space = model->space;
    for (int64_t v = 0; v < space->n_variables; v++) {
        fixed[v] = -1;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t v = variables[k];
        if (v < 0 || v >= space->n_variables) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "clamp: variable %lld; %s has variables 0 to %lld", (long long)v,
                             model->name, (long long)space->n_variables - 1);
        }
        if (!sali_has_code(&space->variables[v], codes[k])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "clamp: variable %lld to code %d; it has codes 0 to %d", (long long)v,
                             codes[k], sali_last_code(&space->variables[v]));
        }
        if (fixed[v] >= 0 && fixed[v] != codes[k]) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "clamp: variable %lld is fixed to both %d and %d", (long long)v,
                             fixed[v], codes[k]);
        }
        fixed[v] = codes[k];
    }
    return SAL_OK;
}

/* Fill the lists of free variables and of their coordinates from content->fixed. Returns:
 * SAL_ERR_ARGUMENT if no variable is free; SAL_ERR_MEMORY. */
static sal_status map_free(clamp_content *content, sal_error *err)
{
    const sal_space *space = content->inner->space;
    content->free = SALI_TAKE(&content->memory, int64_t, space->n_variables);
    content->real_of = SALI_TAKE(&content->memory, int64_t, space->width);
    if (content->memory.refused) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (content->fixed[v] < 0) {
            content->free[content->n_free++] = v;
            for (int32_t k = 0; k < space->variables[v].width; k++) {
                content->real_of[content->width++] = space->variables[v].offset + k;
            }
        }
    }
    return content->n_free > 0
               ? SAL_OK
               : sali_fail(
                     err, SAL_ERR_ARGUMENT,
                     "clamp: every variable is fixed, so there is nothing to sample; leave one "
                     "free. For the log-probability of that state ask for exact answers with the "
                     "same clamps or evidence ('saltus exact --evidence FILE'), or for the value "
                     "of f");
}

sal_status sali_clamp_create(sal_model *model, int64_t n, const int64_t *variables,
                             const int32_t *codes, sal_model **clamped, sal_error *err)
{
    if (model->ops == &clamp_ops) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "clamp: %s is clamped already; clamp all at once",
                         model->name);
    }
    clamp_content *content = SALI_NEW(clamp_content);
    if (!content) {
        return sali_fail_memory(err);
    }
    content->inner = sali_model_hold(model);
    content->fixed = SALI_TAKE(&content->memory, int32_t, model->space->n_variables);
    sal_status status = content->fixed ? mark_fixed(model, n, variables, codes, content->fixed, err)
                                       : sali_fail_memory(err);
    status = status == SAL_OK ? map_free(content, err) : status;
    if (status != SAL_OK) {
        clamp_destroy(content);
        return status;
    }
    sal_space *rest = NULL;
    status = sali_space_subset(model->space, content->fixed, &rest, err);
    if (status != SAL_OK) {
        clamp_destroy(content);
        return sali_fail_prefix(err, status, "clamp");
    }
    sal_model *made = NULL;
    status = sali_model_create(&clamp_ops, content, rest, model->dtype, model->name, &made, err);
    if (status == SAL_OK) {
        made->has_gradient = model->has_gradient;
        made->multilinear = model->multilinear;
        made->conditional = model->conditional;
        made->trackable = model->trackable;
        made->limited = model->limited;
        *clamped = made;
    }
    return status;
}

sal_status sali_clamp_alike(const sal_model *clamped, sal_model *inner, sal_model **out,
                            sal_error *err)
{
    const clamp_content *content = clamped->content;
    int64_t n = content->inner->space->n_variables, count = 0;
    int64_t *variables = SALI_NEW_ARRAY(int64_t, n);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, n);
    for (int64_t v = 0; variables && codes && v < n; v++) {
        if (content->fixed[v] >= 0) {
            variables[count] = v;
            codes[count++] = content->fixed[v];
        }
    }
    sal_status status = variables && codes
                            ? sali_clamp_create(inner, count, variables, codes, out, err)
                            : sali_fail_memory(err);
    sali_free(variables);
    sali_free(codes);
    return status;
}

/* The feasibility model of the inner model, if there is one, with the same variables fixed. */
static sal_status clamp_feasibility(const sal_model *model, sal_model **out, sal_error *err)
{
    const sal_model *inner = sali_clamp_inner(model);
    sal_model *guide = NULL;
    *out = NULL;
    if (!inner->ops->feasibility) {
        return SAL_OK;
    }
    sal_status status = inner->ops->feasibility(inner, &guide, err);
    if (status == SAL_OK && guide) {
        status = sali_clamp_alike(model, guide, out, err);
    }
    sal_model_destroy(guide);
    return status;
}

/* ---- codes in and out */

const sal_model *sali_clamp_inner(const sal_model *model)
{
    return model->ops == &clamp_ops ? ((const clamp_content *)model->content)->inner : model;
}

void sali_clamp_expand(const sal_model *model, int64_t chains, const int32_t *codes, int32_t *full)
{
    if (model->ops != &clamp_ops) {
        memcpy(full, codes, (size_t)(chains * model->space->n_variables) * sizeof *full);
        return;
    }
    const clamp_content *content = model->content;
    int64_t n = content->inner->space->n_variables;
    for (int64_t c = 0; c < chains; c++) {
        memcpy(full + c * n, content->fixed, (size_t)n * sizeof *full);
        for (int64_t k = 0; k < content->n_free; k++) {
            full[c * n + content->free[k]] = codes[c * content->n_free + k];
        }
    }
}

void sali_clamp_restrict(const sal_model *model, int64_t chains, const int32_t *full,
                         int32_t *codes)
{
    if (model->ops != &clamp_ops) {
        memcpy(codes, full, (size_t)(chains * model->space->n_variables) * sizeof *full);
        return;
    }
    const clamp_content *content = model->content;
    int64_t n = content->inner->space->n_variables;
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t k = 0; k < content->n_free; k++) {
            codes[c * content->n_free + k] = full[c * n + content->free[k]];
        }
    }
}

int64_t sali_clamp_variable(const sal_model *model, int64_t v)
{
    return model->ops == &clamp_ops ? ((const clamp_content *)model->content)->free[v] : v;
}

void sali_clamp_variables(const sal_model *model, int64_t *original)
{
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        original[v] = sali_clamp_variable(model, v);
    }
}

sal_status sali_clamp_index(const sal_model *model, int32_t *index, int32_t *code)
{
    int64_t n = model->space->n_variables, whole = sali_clamp_inner(model)->space->n_variables;
    int64_t *original = SALI_NEW_ARRAY(int64_t, n);
    int32_t *zeros = SALI_NEW_ARRAY(int32_t, n);
    bool ok = original && zeros;
    if (ok) {
        sali_clamp_variables(model, original);
        sali_clamp_expand(model, 1, zeros, code);
        for (int64_t v = 0; v < whole; v++) {
            index[v] = -1;
        }
        for (int64_t v = 0; v < n; v++) {
            index[original[v]] = (int32_t)v;
        }
    }
    sali_free(original);
    sali_free(zeros);
    return ok ? SAL_OK : SAL_ERR_MEMORY;
}

sal_status sali_clamp_marginals(const sal_model *model, const double *free_ones, double *all)
{
    const sal_space *whole = sali_clamp_inner(model)->space;
    int32_t *index = SALI_NEW_ARRAY(int32_t, whole->n_variables);
    int32_t *code = SALI_NEW_ARRAY(int32_t, whole->n_variables);
    bool ok = index && code && sali_clamp_index(model, index, code) == SAL_OK;
    for (int64_t v = 0; ok && v < whole->n_variables; v++) {
        int64_t states = whole->variables[v].states;
        for (int64_t k = 0; k < (states ? states : SAL_COUNT_LEVELS); k++) {
            *all++ = index[v] >= 0 ? *free_ones++ : code[v] == k;
        }
    }
    sali_free(index);
    sali_free(code);
    return ok ? SAL_OK : SAL_ERR_MEMORY;
}

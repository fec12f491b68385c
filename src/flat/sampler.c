/* SPDX-License-Identifier: MIT */
/* Samplers made of a user's functions, which see no structs. */
#include <math.h>
#include <string.h>

#include <saltus/flat.h>
#include <saltus/sampler.h>
#include "core/alloc.h"
#include "core/error.h"

struct sal_flat_sampler {
    sal_sampler_descriptor descriptor; /* first: the handle is passed as one */
    char *name;
    void (*draw)(const void *origin, void *random, int32_t *to, void *data);
    double (*log_q)(const void *origin, const int32_t *to, void *data);
    void *data;
    int32_t reverse[SAL_SAMPLER_DIRECTIONS];
};

static void draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    const sal_flat_sampler *sampler = s->data;
    sampler->draw(s, random, to, sampler->data);
}

static double log_q(const sal_origin *s, const int32_t *to)
{
    const sal_flat_sampler *sampler = s->data;
    return sampler->log_q(s, to, sampler->data);
}

sal_status
sal_flat_sampler_create(const char *name, unsigned kinds, bool needs_gradient,
                        bool needs_differences, bool has_step_size, bool unadjusted,
                        void (*draw_one)(const void *origin, void *random, int32_t *to, void *data),
                        double (*log_q_of)(const void *origin, const int32_t *to, void *data),
                        void *data, sal_flat_sampler **out, sal_error *err)
{
    if (!name || !draw_one || (!log_q_of && !unadjusted)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_flat_sampler_create: expected a name, draw, and log_q unless the "
                         "sampler is unadjusted");
    }
    sal_flat_sampler *made = SALI_NEW(sal_flat_sampler);
    char *copy = sali_strdup(name);
    if (!made || !copy) {
        sali_free(made);
        sali_free(copy);
        return sali_fail_memory(err);
    }
    *made = (sal_flat_sampler){ .name = copy, .draw = draw_one, .log_q = log_q_of, .data = data };
    made->descriptor = (sal_sampler_descriptor){ .name = copy,
                                                 .kinds = kinds,
                                                 .needs_gradient = needs_gradient,
                                                 .needs_differences = needs_differences,
                                                 .has_step_size = has_step_size,
                                                 .unadjusted = unadjusted,
                                                 .data = made,
                                                 .draw = draw,
                                                 .log_q = log_q_of ? log_q : NULL };
    *out = made;
    return SAL_OK;
}

sal_status sal_flat_sampler_set_directions(sal_flat_sampler *sampler, int64_t directions,
                                           const int32_t *reverse, double refresh, sal_error *err)
{
    if (directions < 0 || directions > SAL_SAMPLER_DIRECTIONS) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "directions is %lld; expected 0 (none) to %d",
                         (long long)directions, SAL_SAMPLER_DIRECTIONS);
    }
    for (int64_t v = 0; reverse && v < directions; v++) {
        sampler->reverse[v] = reverse[v];
    }
    sampler->descriptor.directions = (int)directions;
    sampler->descriptor.reverse = reverse ? sampler->reverse : NULL;
    sampler->descriptor.refresh_direction = refresh;
    return SAL_OK;
}

void sal_flat_sampler_destroy(sal_flat_sampler *sampler)
{
    if (sampler) {
        sali_free(sampler->name);
        sali_free(sampler);
    }
}

/* ---- what proposals see */

const double *sal_flat_origin_array(const void *origin, const char *name, int64_t *n)
{
    const sal_origin *s = origin;
    const double *array = strcmp(name, "x") == 0             ? s->x
                          : strcmp(name, "gradient") == 0    ? s->gradient
                          : strcmp(name, "differences") == 0 ? s->differences
                                                             : NULL;
    const bool by_entry = array && array == s->differences;
    if (n) {
        *n = !array ? 0 : by_entry ? s->entry[s->variables] : s->reals;
    }
    return array;
}

const int32_t *sal_flat_origin_codes(const void *origin, int64_t *n)
{
    const sal_origin *s = origin;
    if (n) {
        *n = s->variables;
    }
    return s->codes;
}

double sal_flat_origin_number(const void *origin, const char *name)
{
    const sal_origin *s = origin;
    return strcmp(name, "f") == 0           ? s->f
           : strcmp(name, "beta") == 0      ? s->beta
           : strcmp(name, "step_size") == 0 ? s->step_size
           : strcmp(name, "direction") == 0 ? (double)s->direction
                                            : NAN;
}

void sal_flat_random(void *random, bool normal, int64_t n, double *numbers)
{
    for (int64_t k = 0; k < n; k++) {
        numbers[k] = normal ? sal_random_normal(random) : sal_random_uniform(random);
    }
}

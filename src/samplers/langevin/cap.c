/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/cap.h"

#include <math.h>
#include <string.h>

#include "core/object.h"
#include "core/vector/vmath.h"

void sali_cap_create(void *object, const sal_space *space, int64_t most, sali_cap *cap)
{
    int64_t V = space->n_variables;
    cap->most = most < V ? most : 0; /* V is no cap */
    if (cap->most > 0) {
        cap->odds = SALI_OBJECT_ARRAY(object, double, V);
        cap->R = SALI_OBJECT_ARRAY(object, double, (V + 1) * (cap->most + 1));
        cap->uniforms = SALI_OBJECT_ARRAY(object, double, 2 * V);
    }
}

/* The log-weight in a prepared row of variable v's move from `now` to `code`. */
static double weight_of(const sal_model *model, int64_t v, int32_t now, int32_t code,
                        const sali_move_row *row)
{
    return sali_load(model->dtype, row->log_weight, sali_move_slot(model->space, v, now, code));
}

/* log o_i of variable v: log of the summed weights of all codes but `now`. */
static double odds_of(const sal_model *model, int64_t v, int32_t now, const sali_move_row *row)
{
    int32_t states = model->space->variables[v].states;
    double largest = -INFINITY, sum = 0;
    if (states == 2) {
        return weight_of(model, v, now, 1 - now, row);
    }
    for (int32_t k = 0; k < states; k++) {
        double w = k == now ? -INFINITY : weight_of(model, v, now, k, row);
        largest = w > largest || isnan(w) ? w : largest;
    }
    for (int32_t k = 0; largest > -INFINITY && k < states; k++) {
        sum += k == now ? 0 : exp(weight_of(model, v, now, k, row) - largest);
    }
    return largest == -INFINITY ? -INFINITY : largest + log(sum);
}

/* Fill cap->odds and cap->R from a prepared row at `codes`; R_i[0] is 1. */
static void sum_up(sali_cap *cap, const sal_model *model, const int32_t *codes,
                   const sali_move_row *row)
{
    int64_t V = model->space->n_variables, k = cap->most;
    memset(cap->R, 0, (size_t)((V + 1) * (k + 1)) * sizeof *cap->R);
    for (int64_t v = V - 1; v >= 0; v--) {
        const double *after = cap->R + (v + 1) * (k + 1);
        double *here = cap->R + v * (k + 1);
        cap->odds[v] = odds_of(model, v, codes[v], row);
        for (int64_t j = 1; j <= k; j++) {
            here[j] = cap->odds[v] + after[j - 1] - after[j];
        }
        sali_vsoftplus_f64(k, here + 1, here + 1); /* log(1 + exp) */
        for (int64_t j = 1; j <= k; j++) {
            here[j] += after[j];
        }
    }
}

void sali_cap_prepare(sali_cap *cap, const sal_model *model, const int32_t *codes,
                      sali_move_row *row)
{
    sum_up(cap, model, codes, row);
    row->log_norm = cap->R[cap->most];
}

/* The code, other than `now`, that the uniform u selects by the weights of variable v's moves. */
static int32_t pick_code(const sali_cap *cap, const sal_model *model, int64_t v, int32_t now,
                         const sali_move_row *row, double u)
{
    int32_t states = model->space->variables[v].states, chosen = 1 - now;
    for (int32_t k = 0; states > 2 && k < states; k++) {
        double p = k == now ? 0 : exp(weight_of(model, v, now, k, row) - cap->odds[v]);
        if (p > 0) {
            chosen = k;
            u -= p;
            if (u < 0) {
                break;
            }
        }
    }
    return chosen;
}

double sali_cap_draw(sali_cap *cap, const sal_model *model, const sali_stream *stream,
                     const int32_t *codes, const void *x, const sali_move_row *row,
                     int32_t *codes_new, void *x_new)
{
    const sal_space *space = model->space;
    int64_t V = space->n_variables, width = cap->most + 1, left = cap->most;
    double log_q = -row->log_norm;
    sum_up(cap, model, codes, row);
    sali_rng_uniform_f64(stream, 2 * V, cap->uniforms);
    memcpy(codes_new, codes, (size_t)V * sizeof *codes);
    memcpy(x_new, x, (size_t)space->width * sali_dtype_size(model->dtype));
    for (int64_t v = 0; v < V && left > 0; v++) {
        double log_p = cap->odds[v] + cap->R[(v + 1) * width + left - 1] - cap->R[v * width + left];
        if (cap->uniforms[2 * v] < exp(log_p)) {
            codes_new[v] = pick_code(cap, model, v, codes[v], row, cap->uniforms[2 * v + 1]);
            sali_model_embed_one(model, v, codes_new[v], x_new);
            log_q += weight_of(model, v, codes[v], codes_new[v], row);
            left--;
        }
    }
    return log_q;
}

bool sali_cap_allows(const sali_cap *cap, const sal_space *space, const int32_t *from,
                     const int32_t *to)
{
    int64_t site;
    return cap->most == 0 || sali_sites_moved(space, from, to, &site) <= cap->most;
}

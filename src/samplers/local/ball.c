/* SPDX-License-Identifier: MIT */
#include "samplers/local/ball.h"

#include "core/object.h"
#include "samplers/kernels.h"

/* Number of slots of a variable. */
static int64_t slots_of(const sali_variable *v)
{
    return sali_is_two_level(v) ? 1 : sali_entries(v->states);
}

int64_t sali_ball_size(const sal_space *space, int64_t radius)
{
    /* count[k]: sets of k slots of the variables so far */
    int64_t count[SALI_BALL_RADIUS + 1] = { 1 }, total = 0;
    if (radius > SALI_BALL_RADIUS) {
        return SALI_BALL_MOST + 1;
    }
    for (int64_t v = 0; v < space->n_variables; v++) {
        for (int64_t k = radius; k > 0; k--) {
            count[k] += count[k - 1] * slots_of(&space->variables[v]);
            if (count[k] > SALI_BALL_MOST) {
                return SALI_BALL_MOST + 1;
            }
        }
    }
    for (int64_t k = 1; k <= radius; k++) {
        total += count[k];
    }
    return total <= SALI_BALL_MOST ? total : SALI_BALL_MOST + 1;
}

/* Append to the ball all sets that begin with the `depth` slots of `prefix` and continue with
 * variables from `variable` on; longer sets come before their prefixes. */
static void add_sets(const sal_space *space, sali_ball *ball, int32_t *prefix, int64_t depth,
                     int64_t variable)
{
    for (int64_t v = variable; depth < ball->radius && v < space->n_variables; v++) {
        for (int64_t k = 0; k < slots_of(&space->variables[v]); k++) {
            prefix[depth] = (int32_t)(space->variables[v].slot + k);
            add_sets(space, ball, prefix, depth + 1, v + 1);
        }
    }
    for (int64_t k = 0; depth > 0 && k < ball->radius; k++) {
        ball->slots[ball->size * ball->radius + k] = k < depth ? prefix[k] : (int32_t)space->slots;
    }
    ball->size += depth > 0;
}

void sali_ball_create(void *object, const sal_space *space, int64_t radius, sali_ball *ball)
{
    int32_t prefix[SALI_BALL_RADIUS];
    *ball = (sali_ball){ .radius = radius };
    ball->slots = SALI_OBJECT_ARRAY(object, int32_t, sali_ball_size(space, radius) * radius);
    if (ball->slots) {
        add_sets(space, ball, prefix, 0, 0);
    }
}

/* The lexicographic order of a and b, n slots each: -1, 0 or 1. */
static int compare_slots(const int32_t *a, const int32_t *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

int64_t sali_ball_find(const sali_ball *ball, const sal_space *space, const int32_t *from,
                       const int32_t *to)
{
    int32_t wanted[SALI_BALL_RADIUS];
    int64_t changed = 0, low = 0, high = ball->size - 1;
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (from[v] != to[v]) {
            if (changed == ball->radius) {
                return -1;
            }
            wanted[changed] = (int32_t)sali_move_slot(space, v, from[v], to[v]);
            if (wanted[changed++] < 0) {
                return -1;
            }
        }
    }
    for (int64_t k = changed; k < ball->radius; k++) {
        wanted[k] = (int32_t)space->slots;
    }
    while (low <= high) {
        int64_t middle = (low + high) / 2;
        int order = compare_slots(ball->slots + middle * ball->radius, wanted, ball->radius);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

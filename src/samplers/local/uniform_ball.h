/* SPDX-License-Identifier: MIT */
/* States drawn uniformly from a Hamming ball around a state: states that differ from the centre in
 * at most `radius` of the variables without order (all but ordinal ones and counts of more than two
 * levels). */
#ifndef SALI_UNIFORM_BALL_H
#define SALI_UNIFORM_BALL_H

#include <saltus/status.h>
#include "core/rng.h"
#include "core/space.h"

typedef struct sali_uniform_ball {
    int64_t radius, groups; /* groups: stretches of variables without order */
    double *log_ways;       /* [(groups + 1) x (radius + 1)] entry (g, k): log of the number of
                               states that differ in k variables of groups g, g + 1, ... */
} sali_uniform_ball;

/* Whether a stretch belongs to the ball. */
static inline bool sali_unordered(const sali_stretch *s)
{
    return s->kind == SAL_CATEGORICAL || sali_two_level(s);
}

/* SAL_ERR_MEMORY. Cost: O(V radius). */
sal_status sali_uniform_ball_create(const sal_space *space, int64_t radius, sali_uniform_ball *ball,
                                    sal_error *err);
void sali_uniform_ball_free(void *ball);

/* log of the number of states in the ball; it is the same around all states. */
double sali_uniform_ball_log_size(const sali_uniform_ball *ball);

/* Draw from the ball around codes into codes_new, which holds codes, with elements `first`,
 * first + 1, ... of the stream. */
void sali_uniform_ball_draw(const sali_uniform_ball *ball, const sal_space *space,
                            const sali_stream *stream, uint32_t first, const int32_t *codes,
                            int32_t *codes_new);

#endif

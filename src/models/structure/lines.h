/* Nodes of a formula whose elements are affine in one unknown each: the forward half of reading a
 * quadratic polynomial off a tape. What the unknowns are, bits of variables or coordinates of the
 * embedding, is the caller's to say. */
#ifndef SALI_LINES_H
#define SALI_LINES_H

#include "models/tape_model.h"

/* base + slope u, u the unknown of this number; slope is 0 for a constant. */
typedef struct sali_line {
    double base, slope;
    int32_t unknown;
} sali_line;

typedef struct sali_lines {
    const sali_program *program;
    const sali_params *params;
    sali_line **node; /* by node: [size], or NULL for none */
} sali_lines;

/* Lines of all nodes that vary and have them; `state` fills those of the state itself. Returns:
 * SAL_ERR_MEMORY, no message. Free it in any case. */
sal_status sali_lines_create(const sali_tape_model *tape,
                             void (*state)(void *context, sali_line *lines), void *context,
                             sali_lines *lines);
void sali_lines_free(sali_lines *lines);

/* Whether an op may make lines of lines. */
bool sali_lines_keep(sali_op_id op);

#endif

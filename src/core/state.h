/* The state of something that goes on, as named arrays of numbers: to be kept in a file and taken
 * up again. Whoever owns the arrays lists them; sizes do not change in between. */
#ifndef SALI_STATE_H
#define SALI_STATE_H

#include <stdint.h>

typedef enum sali_state_type {
    SALI_STATE_F64,
    SALI_STATE_I32,
    SALI_STATE_I64,
    SALI_STATE_U64,
    SALI_STATE_U8
} sali_state_type;

typedef struct sali_state_item {
    const char *name;
    sali_state_type type;
    int64_t count;
    void *data;
} sali_state_item;

#endif

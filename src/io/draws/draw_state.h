/* The state of a run in the netCDF file of its draws: saltus_state (saltus_slot, saltus_byte), two
 * places that are written in turn, so that one is whole at any time. A place begins with three
 * numbers of 64 bits, little-endian: how many states were written before (from 1), the bytes that
 * follow, their hash; then comes the state as a safetensors file. */
#ifndef SALI_DRAW_STATE_H
#define SALI_DRAW_STATE_H

#include "core/run_state.h"
#include "io/draws/netcdf.h"

#define SALI_DRAW_STATE "saltus_state"
#define SALI_DRAW_STATE_HEAD 24

typedef struct sali_draw_state {
    bool defined;
    int variable;
    int64_t written;
    struct sal_run_state notes; /* further items */
} sali_draw_state;

/* Write a state and sync; errors are the file's. */
void sali_draw_state_write(sali_draw_state *s, sali_netcdf *file,
                           const struct sal_run_state *state);

/* The number k of the three at the head of a place. */
uint64_t sali_draw_state_number(const unsigned char *head, int k);

/* The hash of a state's bytes. */
uint64_t sali_draw_state_hash(const void *bytes, int64_t size);

#endif

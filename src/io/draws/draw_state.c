#include "io/draws/draw_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/arrays/state_file.h"
#include "models/fingerprint.h"

/* States have a size of their own each: bytes are added as they are needed. */
#define CHUNK_BYTES ((int64_t)8 << 10)

uint64_t sali_draw_state_number(const unsigned char *head, int k)
{
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--) {
        number = number << 8 | head[8 * k + i];
    }
    return number;
}

uint64_t sali_draw_state_hash(const void *bytes, int64_t size)
{
    return sali_hash(SALI_HASH_START, bytes, size);
}

static void define(sali_draw_state *s, sali_netcdf *file)
{
    int dimensions[2];
    int64_t chunk[2] = { 1, CHUNK_BYTES };
    dimensions[0] = sali_netcdf_dimension(file, SALI_NETCDF_ROOT, "saltus_slot", 2);
    dimensions[1] = sali_netcdf_dimension(file, SALI_NETCDF_ROOT, "saltus_byte", 0);
    s->variable = sali_netcdf_variable(file, SALI_NETCDF_ROOT, SALI_DRAW_STATE, SALI_DTYPE_U8, 2,
                                       dimensions, chunk, 0);
    s->defined = true;
}

/* The items of the state, then the notes. */
static sal_status format(const sali_draw_state *s, const struct sal_run_state *state, char **bytes,
                         int64_t *size)
{
    sali_state_item *items = SALI_NEW_ARRAY(sali_state_item, state->n + s->notes.n);
    if (!items) {
        return SAL_ERR_MEMORY;
    }
    memcpy(items, state->items, (size_t)state->n * sizeof *items);
    for (int64_t k = 0; k < s->notes.n; k++) {
        items[state->n + k] = s->notes.items[k];
    }
    sal_status status = sali_state_format(items, state->n + s->notes.n, bytes, size, NULL);
    sali_free(items);
    return status;
}

void sali_draw_state_write(sali_draw_state *s, sali_netcdf *file, const struct sal_run_state *state)
{
    char *bytes = NULL;
    int64_t size = 0;
    unsigned char head[SALI_DRAW_STATE_HEAD];
    if (format(s, state, &bytes, &size) != SAL_OK) {
        sali_netcdf_no_memory(file);
        return;
    }
    const uint64_t numbers[3] = { (uint64_t)++s->written, (uint64_t)size,
                                  sali_draw_state_hash(bytes, size) };
    for (int i = 0; i < SALI_DRAW_STATE_HEAD; i++) {
        head[i] = (unsigned char)(numbers[i / 8] >> 8 * (i % 8));
    }
    sali_netcdf_reserve(file, 2 * (size + CHUNK_BYTES) + size / 8 + (128 << 10));
    if (!s->defined) {
        define(s, file);
    }
    int64_t begin[2] = { s->written % 2, 0 }, count[2] = { 1, SALI_DRAW_STATE_HEAD };
    sali_netcdf_write(file, SALI_NETCDF_ROOT, s->variable, begin, count, head);
    begin[1] = SALI_DRAW_STATE_HEAD;
    count[1] = size;
    sali_netcdf_write(file, SALI_NETCDF_ROOT, s->variable, begin, count, bytes);
    sali_netcdf_sync(file);
    free(bytes);
}

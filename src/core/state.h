/* SPDX-License-Identifier: MIT */
/* Named arrays that make up a state: all that must be saved so that an interrupted computation
 * resumes with the same bits. They connect the owners of the arrays with files, neither of which
 * knows the other. */
#ifndef SALI_STATE_H
#define SALI_STATE_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"
#include <saltus/space.h>
#include <saltus/status.h>

/* Bytes of one element. */
static inline size_t sali_state_bytes(sali_dtype type)
{
    return (size_t)sali_dtype_bytes(type);
}

/* What an item is kept for. */
enum {
    SALI_STATE_KEPT = 1, /* saved, to resume with the same bits */
    SALI_STATE_TUNED =
        2, /* doubles found in warm-up: displayed, saved as tuning and passed to other runs */
    /* Only for runs on several ranks, items of a shard. SENT: sent to all ranks after each window.
     * LAST: collected at rank 0 at the end; such items have the same number of elements for each
     * chain. */
    SALI_STATE_SENT = 4,
    SALI_STATE_LAST = 8
};

/* An array in its owner's memory, to be read when a state is saved and filled when it is loaded. */
typedef struct sali_state_item {
    const char *name; /* unique among the owner's items of a kind of `kept` */
    sali_dtype type;
    int64_t count;
    void *data;    /* [count] of the type */
    unsigned kept; /* OR of SALI_STATE_* */
    bool optional; /* a saved state may lack this item: the data then stay as they are */
    /* Optional checks of the values; states are codes, one state after the other. */
    bool ranged, whole;     /* numbers from low to high, whole ones */
    double low, high;       /* NaN is in no range */
    const sal_space *space; /* the data are states of this space; NULL: no codes */
} sali_state_item;

#define SALI_STATE_ITEM(suffix, element, kind)                                                    \
    static inline sali_state_item sali_state_##suffix(const char *name, int64_t n, element *data) \
    {                                                                                             \
        return (sali_state_item){                                                                 \
            .name = name, .type = kind, .count = n, .data = data, .kept = SALI_STATE_KEPT         \
        };                                                                                        \
    }
SALI_STATE_ITEM(f64, double, SALI_DTYPE_F64)
SALI_STATE_ITEM(i64, int64_t, SALI_DTYPE_I64)
SALI_STATE_ITEM(u64, uint64_t, SALI_DTYPE_U64)
SALI_STATE_ITEM(i32, int32_t, SALI_DTYPE_I32)
SALI_STATE_ITEM(u32, uint32_t, SALI_DTYPE_U32)
SALI_STATE_ITEM(u8, uint8_t, SALI_DTYPE_U8)
#undef SALI_STATE_ITEM

/* Upper bound of saved counters, low enough that counting can continue without overflow. */
#define SALI_STATE_MOST 0x1p62

/* `item`, whose numbers must lie from `low` to `high`. */
static inline sali_state_item sali_state_within(sali_state_item item, double low, double high)
{
    item.ranged = true;
    item.low = low;
    item.high = high;
    return item;
}

/* Sums and counters are not negative; reals are finite. */
static inline sali_state_item sali_state_sums(const char *name, int64_t n, double *data)
{
    return sali_state_within(sali_state_f64(name, n, data), 0, DBL_MAX);
}
static inline sali_state_item sali_state_reals(const char *name, int64_t n, double *data)
{
    return sali_state_within(sali_state_f64(name, n, data), -DBL_MAX, DBL_MAX);
}
static inline sali_state_item sali_state_counts(const char *name, int64_t n, int64_t *data)
{
    return sali_state_within(sali_state_i64(name, n, data), 0, SALI_STATE_MOST);
}

/* An item of n states of `space`, codes [n x V]. */
static inline sali_state_item sali_state_codes(const char *name, const sal_space *space, int64_t n,
                                               int32_t *codes)
{
    sali_state_item item = sali_state_i32(name, n * sal_space_variables(space), codes);
    item.space = space;
    return item;
}

/* `item`, kept for the purposes `kept` (SALI_STATE_*). */
static inline sali_state_item sali_state_for(unsigned kept, sali_state_item item)
{
    item.kept = kept;
    return item;
}

/* SAL_ERR_DATA unless all of an item's numbers are within its range, or codes of its space. */
sal_status sali_state_check(const sali_state_item *item, sal_error *err);
sal_status sali_state_check_all(int64_t n, const sali_state_item *items, sal_error *err);

#endif

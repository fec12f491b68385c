/* Named arrays that make up a state: all that has to be kept so that what was stopped goes on later
 * with the same bits. Between the owners of the arrays and files, which know nothing of each
 * other. */
#ifndef SALI_STATE_H
#define SALI_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <saltus/status.h>

typedef enum sali_state_type {
    SALI_STATE_F64,
    SALI_STATE_I64,
    SALI_STATE_U64,
    SALI_STATE_I32,
    SALI_STATE_U32,
    SALI_STATE_U8
} sali_state_type;

/* Bytes of one element. */
size_t sali_state_bytes(sali_state_type type);

/* An array in its owner's memory, to be read when a state is saved and filled when it is loaded. */
typedef struct sali_state_item {
    const char *name; /* unique among the owner's items */
    sali_state_type type;
    int64_t count;
    void *data; /* [count] of the type */
} sali_state_item;

#define SALI_STATE_ITEM(suffix, element, kind)                                                    \
    static inline sali_state_item sali_state_##suffix(const char *name, int64_t n, element *data) \
    {                                                                                             \
        return (sali_state_item){ name, kind, n, data };                                          \
    }
SALI_STATE_ITEM(f64, double, SALI_STATE_F64)
SALI_STATE_ITEM(i64, int64_t, SALI_STATE_I64)
SALI_STATE_ITEM(u64, uint64_t, SALI_STATE_U64)
SALI_STATE_ITEM(i32, int32_t, SALI_STATE_I32)
SALI_STATE_ITEM(u32, uint32_t, SALI_STATE_U32)
SALI_STATE_ITEM(u8, uint8_t, SALI_STATE_U8)
#undef SALI_STATE_ITEM

/* Fills item->data with item->count elements of its type, from wherever they were saved. Returns:
 * SAL_ERR_DATA, with a message, if there is no such array of this type and size. */
typedef sal_status sali_state_fetch(void *context, const sali_state_item *item, sal_error *err);

/* Fetch n items, up to the first failure. */
sal_status sali_state_fill(int64_t n, const sali_state_item *items, sali_state_fetch *fetch,
                           void *context, sal_error *err);

/* Checks of what was filled in: that all are numbers from low to high (none is NaN). Returns:
 * SAL_ERR_DATA. */
sal_status sali_state_check_f64(const char *name, int64_t n, const double *values, double low,
                                double high, sal_error *err);
sal_status sali_state_check_i64(const char *name, int64_t n, const int64_t *values, int64_t low,
                                int64_t high, sal_error *err);

#endif

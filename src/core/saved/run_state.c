/* SPDX-License-Identifier: MIT */
#include "core/saved/run_state.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

sali_state_item *sali_run_state_find(const struct sal_run_state *state, const char *name)
{
    for (int64_t k = 0; k < state->n; k++) {
        if (strcmp(state->items[k].name, name) == 0) {
            return &state->items[k];
        }
    }
    return NULL;
}

/* Append an item named `name` without data; NULL when out of memory. */
static sali_state_item *append_item(struct sal_run_state *state, const char *name)
{
    char *own = sali_strdup(name);
    if (!own ||
        sali_grow((void **)&state->items, &state->room, state->n + 1, sizeof *state->items) != 0) {
        sali_free(own);
        return NULL;
    }
    state->items[state->n] = (sali_state_item){ .name = own };
    return &state->items[state->n++];
}

void *sali_run_state_room(struct sal_run_state *state, const char *name, sali_dtype type,
                          int64_t count)
{
    sali_state_item *item = sali_run_state_find(state, name);
    item = item ? item : append_item(state, name);
    if (item && (!item->data || item->type != type || item->count != count)) {
        sali_free(item->data);
        item->type = type;
        item->data = sali_alloc(count, sali_state_bytes(type));
        item->count = item->data ? count : 0;
    }
    return item ? item->data : NULL;
}

bool sali_run_state_put(struct sal_run_state *state, const sali_state_item *item)
{
    void *data = sali_run_state_room(state, item->name, item->type, item->count);
    if (data && item->count > 0) {
        memcpy(data, item->data, (size_t)item->count * sali_state_bytes(item->type));
    }
    return data != NULL;
}

bool sali_run_state_put_text(struct sal_run_state *state, const char *name, const char *text)
{
    const sali_state_item item =
        sali_state_u8(name, (int64_t)strlen(text) + 1, (uint8_t *)(uintptr_t)text);
    return sali_run_state_put(state, &item);
}

const char *sali_run_state_text(const struct sal_run_state *state, const char *name)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    bool text = item && item->type == SALI_DTYPE_U8 && item->count > 0;
    return text && ((const char *)item->data)[item->count - 1] == '\0' ? item->data : NULL;
}

int64_t sali_run_state_whole(const struct sal_run_state *state, const char *name)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    bool whole = item && item->type == SALI_DTYPE_I64 && item->count == 1;
    return whole ? *(const int64_t *)item->data : -1;
}

/* Copy the array called prefix + name out of the state into wanted->data and check its values.
 * SAL_ERR_DATA if it is missing or has another type or count. */
static sal_status fill_item(sali_run_state_reader *reader, const sali_state_item *wanted,
                            sal_error *err)
{
    char name[160];
    snprintf(name, sizeof name, "%s%s", reader->prefix, wanted->name);
    const sali_state_item *item = sali_run_state_find(reader->state, name);
    if (!item || item->type != wanted->type || item->count != wanted->count) {
        return sali_fail(err, SAL_ERR_DATA,
                         "expected an array '%s' of %lld numbers of the right type", name,
                         (long long)wanted->count);
    }
    if (item->count > 0) {
        memcpy(wanted->data, item->data, (size_t)item->count * sali_state_bytes(item->type));
    }
    reader->fetched++;
    return sali_state_check(wanted, err);
}

sal_status sali_run_state_fill(sali_run_state_reader *reader, int64_t n,
                               const sali_state_item *items, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        status = fill_item(reader, &items[k], err);
    }
    return status;
}

static void free_item(sali_state_item *item)
{
    sali_free((char *)item->name);
    sali_free(item->data);
}

/* Whether one of the n items is called `name`. */
static bool has_item(int64_t n, const sali_state_item *items, const char *name)
{
    bool found = false;
    for (int64_t k = 0; !found && k < n; k++) {
        found = strcmp(items[k].name, name) == 0;
    }
    return found;
}

void sali_run_state_retain(struct sal_run_state *state, const char *prefix, int64_t n,
                           const sali_state_item *kept)
{
    int64_t left = 0;
    for (int64_t k = 0; k < state->n; k++) {
        sali_state_item *item = &state->items[k];
        const char *name = item->name + strlen(prefix);
        if (strncmp(item->name, prefix, strlen(prefix)) != 0 || has_item(n, kept, name)) {
            state->items[left++] = *item;
        } else {
            free_item(item);
        }
    }
    state->n = left;
}

void sali_run_state_clear(struct sal_run_state *state)
{
    for (int64_t k = 0; k < state->n; k++) {
        free_item(&state->items[k]);
    }
    sali_free(state->items);
    sali_free(state->name);
    if (state->replay.close) {
        state->replay.close(state->replay.source);
    }
    *state = (struct sal_run_state){ 0 };
}

void sal_run_state_destroy(sal_run_state *state)
{
    if (state) {
        sali_run_state_clear(state);
        sali_free(state);
    }
}

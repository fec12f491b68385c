/* SPDX-License-Identifier: MIT */
/* Holding out rows: the last ones, random ones, whole clusters of similar ones. */
#include <stdlib.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/rng.h"
#include "models/zoo/alignment.h"
#include "train/data.h"

/* The fewest rows that are held out. */
#define FEWEST 2

typedef struct sali_cluster {
    int64_t number, size;
    double key; /* gives its place in a random order */
} sali_cluster;

typedef struct work {
    sali_memory memory;
    int64_t *cluster; /* [rows] */
    sali_cluster *clusters;
    int64_t count;
    bool *held; /* [rows]: of the clusters, then of the rows */
} work;

static int by_key(const void *a, const void *b)
{
    const sali_cluster *p = a, *q = b;
    return p->key != q->key ? (p->key > q->key) - (p->key < q->key)
                            : (p->number > q->number) - (p->number < q->number);
}

/* Find the clusters of rows that agree at `identity`, and put them in random order. */
static sal_status find_clusters(const sal_data *data, double identity, uint64_t seed, work *w,
                                sal_error *err)
{
    sali_alignment a = { .sequences = data->rows, .length = data->variables, .codes = data->codes };
    w->cluster = SALI_TAKE(&w->memory, int64_t, data->rows);
    w->clusters = SALI_TAKE(&w->memory, sali_cluster, data->rows);
    w->held = SALI_TAKE(&w->memory, bool, data->rows);
    sal_status status = sali_memory_status(&w->memory, err);
    status = status ? status : sali_alignment_clusters(&a, identity, w->cluster, &w->count, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_stream stream = { .seed = seed, .purpose = SALI_RNG_SPLIT };
    for (int64_t k = 0; k < w->count; k++) {
        w->clusters[k] =
            (sali_cluster){ .number = k, .key = sali_rng_uniform_at(&stream, (uint32_t)k) };
    }
    for (int64_t r = 0; r < data->rows; r++) {
        w->clusters[w->cluster[r]].size++;
    }
    qsort(w->clusters, (size_t)w->count, sizeof *w->clusters, by_key);
    return SAL_OK;
}

/* Mark clusters as held out: in random order all that fit into `target` rows; if these are few,
 * also the smallest of the rest. Returns the number of rows that are then held out. */
static int64_t choose_clusters(work *w, int64_t rows, int64_t target)
{
    int64_t held = 0;
    sali_cluster *smallest = NULL;
    for (int64_t k = 0; k < w->count; k++) {
        sali_cluster *c = &w->clusters[k];
        const bool fits = held + c->size <= target;
        w->held[c->number] = fits;
        held += fits ? c->size : 0;
        smallest = !fits && (!smallest || c->size < smallest->size) ? c : smallest;
    }
    if (2 * held < target && smallest && 2 * (held + smallest->size) <= rows) {
        w->held[smallest->number] = true;
        held += smallest->size;
    }
    return held;
}

/* Move the `held` rows that is_held marks from data to held_out. */
static sal_status divide_rows(sal_data *data, const bool *is_held, int64_t held, sal_data *held_out,
                              sal_error *err)
{
    sal_data rest = { 0 }, part = { 0 };
    const int64_t n = data->rows;
    uint32_t *rows = SALI_NEW_ARRAY(uint32_t, n); /* the held ones first */
    sal_status status = rows ? SAL_OK : sali_fail_memory(err);
    for (int64_t r = 0, in = 0, out = held; status == SAL_OK && r < n; r++) {
        rows[is_held[r] ? in++ : out++] = (uint32_t)r;
    }
    status = status ? status : sali_data_gather(data, 0, held, rows, &part, err);
    status = status ? status : sali_data_gather(data, 0, n - held, rows + held, &rest, err);
    sali_free(rows);
    if (status != SAL_OK) {
        sal_data_destroy(&part);
        return status;
    }
    rest.remark = data->remark;
    rest.warns = data->warns;
    data->remark = NULL;
    sal_data_destroy(data);
    *data = rest;
    *held_out = part;
    return SAL_OK;
}

sal_status sal_data_split_by_identity(sal_data *data, double identity, double share, uint64_t seed,
                                      sal_data *held_out, int64_t *clusters, sal_error *err)
{
    if (!data || !data->codes || !held_out || !(identity >= 0 && identity <= 1) ||
        !(share > 0 && share < 1) || data->rows < 2 * FEWEST || data->rows > UINT32_MAX) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_data_split_by_identity: %lld rows, identity %g, share %g; expected "
                         "%d rows or more, an identity of 0 to 1, a share between 0 and 1",
                         (long long)(data && data->codes ? data->rows : 0), identity, share,
                         2 * FEWEST);
    }
    work w = { 0 };
    int64_t target = (int64_t)(share * (double)data->rows), held = 0;
    target = target < FEWEST ? FEWEST : target;
    sal_status status = find_clusters(data, identity, seed, &w, err);
    if (status == SAL_OK) {
        held = choose_clusters(&w, data->rows, target);
        /* Backwards, because a cluster's number is at most the index of each of its rows. */
        for (int64_t r = data->rows - 1; r >= 0; r--) {
            w.held[r] = w.held[w.cluster[r]];
        }
    }
    if (status == SAL_OK && (held < FEWEST || held > data->rows - FEWEST)) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "the rows cannot be divided at an identity of %g: nearly all of the "
                           "%lld rows are of one cluster, of %lld in all",
                           identity, (long long)data->rows, (long long)w.count);
    }
    status = status ? status : divide_rows(data, w.held, held, held_out, err);
    if (status == SAL_OK && clusters) {
        *clusters = w.count;
    }
    sali_memory_free(&w.memory);
    return status;
}

static sal_status split_last(sal_data *data, int64_t rows, sal_data *held_out, sal_error *err)
{
    sal_status status = sali_data_gather(data, data->rows - rows, rows, NULL, held_out, err);
    data->rows -= status == SAL_OK ? rows : 0;
    return status;
}

/* Move `rows` random rows from data to held_out. */
static sal_status split_random(sal_data *data, int64_t rows, uint64_t seed, sal_data *held_out,
                               sal_error *err)
{
    const sali_stream stream = { .seed = seed, .purpose = SALI_RNG_SPLIT };
    sali_memory memory = { 0 };
    uint32_t *room = SALI_TAKE(&memory, uint32_t, data->rows);
    uint32_t *chosen = SALI_TAKE(&memory, uint32_t, rows);
    bool *is_held = SALI_TAKE(&memory, bool, data->rows);
    sal_status status = sali_memory_status(&memory, err);
    if (status == SAL_OK) {
        sali_rng_choose(&stream, (uint32_t)data->rows, (uint32_t)rows, room, chosen);
        for (int64_t k = 0; k < rows; k++) {
            is_held[chosen[k]] = true;
        }
        status = divide_rows(data, is_held, rows, held_out, err);
    }
    sali_memory_free(&memory);
    return status;
}

sal_status sal_data_split(sal_data *data, int64_t rows, const uint64_t *seed, sal_data *held_out,
                          sal_error *err)
{
    const int64_t there = data && data->codes ? data->rows : 0;
    if (!held_out || rows < 1 || rows >= there || there > UINT32_MAX) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: %lld of %lld rows to hold out; expected at least 1, and one must "
                         "stay, of less than 2^32 rows",
                         (long long)rows, (long long)there);
    }
    return seed ? split_random(data, rows, *seed, held_out, err)
                : split_last(data, rows, held_out, err);
}

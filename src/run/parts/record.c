/* SPDX-License-Identifier: MIT */
/* Records of every draw: f, a distance, counts of states, and if wanted the states. */
#include "run/parts/record.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/sync.h"
#include "samplers/start.h"

static bool is_wanted(const sal_run *run)
{
    return !run->endless;
}

/* ---- room */

/* Whether the machine has this much memory: the system promises more than there is, and kills the
 * process that uses it. */
static bool fits_memory(double bytes)
{
    return bytes < (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
}

/* SAL_ERR_MEMORY if the records of all draws, with `draw_bytes` a code, exceed the machine's
 * memory. */
static sal_status check_room(const sal_run *run, int draw_bytes, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t kept = 0, codes = 0;
    if (__builtin_mul_overflow(o->chains, o->draws, &kept) ||
        __builtin_mul_overflow(kept, run->base->space->n_variables, &codes)) {
        return sali_fail_memory(err);
    }
    double bytes = 2.0 * sizeof(double) * (double)kept +
                   (o->record.draws ? (double)draw_bytes * (double)codes : 0.0);
    return fits_memory(bytes)
               ? SAL_OK
               : sali_fail(
                     err, SAL_ERR_MEMORY,
                     "%lld chains of %lld draws need %.1f GB, more than this machine has; thin "
                     "them, or ask for fewer",
                     (long long)o->chains, (long long)o->draws, bytes / 1e9);
}

/* Allocate the records, and draw the reference state. */
static sal_status create(void *self, sal_error *err)
{
    sali_draw_record *record = self;
    sal_run *run = record->run;
    const sal_run_options *o = &run->options;
    const sal_space *whole = run->base->space, *space = run->model->space;
    int64_t row0;
    const int64_t rows = sali_run_rows(run, o->annealing.schedule == SAL_ANNEAL_REHEAT, &row0);
    const int draw_bytes = whole->max_states > 256 || whole->unbounded ? 4 : 1;
    sali_memory *m = &run->memory;
    sal_status status = check_room(run, draw_bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    *record = (sali_draw_record){
        .run = run,
        .row0 = row0,
        .rows = rows,
        .log_prob = SALI_TAKE(m, double, rows * o->draws),
        .distance = SALI_TAKE(m, double, rows * o->draws),
        .counts = SALI_TAKE(m, uint32_t, 2 * rows * space->bins),
        .draw_bytes = draw_bytes,
        .reference = SALI_TAKE(m, int32_t, space->n_variables),
        .grows = o->until || o->seconds > 0 ? SALI_FIRST_LOOK : 0,
    };
    if (space->unbounded) {
        record->moments = SALI_TAKE(m, sali_running, 2 * rows * space->n_variables);
    }
    if (o->record.draws) {
        record->draws =
            sali_memory_take(m, rows * o->draws * whole->n_variables, (size_t)draw_bytes);
    }
    if (record->reference) {
        const sali_stream stream = { .seed = o->seed, .purpose = SALI_RNG_STATISTIC };
        sali_random_codes(space, &stream, record->reference);
    }
    return sali_memory_status(m, err);
}

/* ---- a draw */

/* A categorical variable with more states than this is hardly ever in its reference state, so the
 * distance to that state hardly ever changes. For such variables the distance is to a random half
 * of the states. */
#define MANY_STATES 32

static uint32_t half_of(const sal_run *run, int64_t v, int32_t code)
{
    const sali_stream stream = { run->options.seed, (uint64_t)code, (uint32_t)v,
                                 SALI_RNG_STATISTIC };
    return sali_rng_below(&stream, 0, 2);
}

/* L1 distance of chain c to the reference state, in the embedding. */
static double reference_distance(const sali_draw_record *record, const sali_run_shard *shard,
                                 int64_t c)
{
    const sal_run *run = record->run;
    const sal_space *space = shard->chains->space;
    const int32_t *codes = shard->chains->codes + c * space->n_variables;
    const int32_t *reference = record->reference;
    double sum = sali_distance(space, codes, reference);
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        bool many = s->kind == SAL_CATEGORICAL && s->states > MANY_STATES;
        for (int64_t v = s->first; many && v < s->first + s->count; v++) {
            bool near = half_of(run, v, codes[v]) == half_of(run, v, reference[v]);
            sum -= near && codes[v] != reference[v] ? 2 : 0;
        }
    }
    return sum;
}

/* The bin of a count without a cap: codes past the last one belong to it. */
static int32_t bin_of(int32_t code)
{
    return code < SAL_COUNT_LEVELS - 1 ? code : SAL_COUNT_LEVELS - 1;
}

/* Add those variables of codes [V] that are counts without a cap, as the n-th draw, to their
 * moments [V]. */
static void add_moments(const sal_space *space, const int32_t *codes, int64_t n,
                        sali_running *moments)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (space->variables[v].states == 0) {
            sali_running_add(&moments[v], n, (double)codes[v]);
        }
    }
}

/* Count the codes [V] of a draw in counts [bins]; two-level variables count code 1 only. */
static void count_codes(const sal_space *space, const int32_t *codes, uint32_t *counts)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int32_t *code = codes + s->first;
        uint32_t *to = counts + s->bin;
        for (int64_t i = 0; i < s->count; i++) {
            if (sali_two_level(s)) {
                to[i] += (uint32_t)code[i];
            } else if (s->states == 0) {
                to[i * SAL_COUNT_LEVELS + bin_of(code[i])]++;
            } else {
                to[i * s->states + code[i]]++;
            }
        }
    }
}

/* Store a draw, full [V of base], as row `row` of the kept draws, with one or four bytes a
 * variable. */
static void store_draw(const sali_draw_record *record, const int32_t *full, int64_t row)
{
    int64_t V = record->run->base->space->n_variables;
    if (record->draw_bytes == 4) {
        memcpy((int32_t *)record->draws + row * V, full, (size_t)V * sizeof *full);
        return;
    }
    uint8_t *to = (uint8_t *)record->draws + row * V;
    for (int64_t v = 0; v < V; v++) {
        to[v] = (uint8_t)full[v];
    }
}

int64_t sali_record_first_half(const sali_draw_record *record, int64_t made)
{
    int64_t first = record->grows > 0 ? record->grows / 2 : record->run->options.draws / 2;
    for (int64_t look = record->grows; look > 0 && look < made; look *= 2) {
        first = look;
    }
    return made < first ? made : first;
}

/* Merge the two halves of a row's counts and moments: all `made` draws so far become its first
 * half. */
static void merge_halves(const sali_draw_record *record, int64_t row, int64_t made)
{
    const sal_space *space = record->run->model->space;
    uint32_t *counts = record->counts + 2 * row * space->bins;
    for (int64_t b = 0; b < space->bins; b++) {
        counts[b] += counts[space->bins + b];
        counts[space->bins + b] = 0;
    }
    const int64_t V = space->n_variables, early = sali_record_first_half(record, made);
    sali_running *first = record->moments ? record->moments + 2 * row * V : NULL;
    for (int64_t v = 0; first && v < V; v++) {
        sali_running *second = &first[V + v];
        const double n = (double)early, m = (double)(made - early),
                     off = second->mean - first[v].mean;
        first[v].mean += off * m / (n + m);
        first[v].squares += second->squares + off * off * n * m / (n + m);
        *second = (sali_running){ 0 };
    }
}

/* Record the draw of each chain of the shard; where a new second half begins, merge the halves
 * before. */
static void draw(void *self, sali_run_shard *shard, int64_t draw)
{
    const sali_draw_record *record = self;
    const sal_run *run = record->run;
    const sali_chains *chains = shard->chains;
    const sal_space *space = chains->space;
    const int64_t first_half = sali_record_first_half(record, draw + 1);
    const int64_t half = draw < first_half ? 0 : 1;
    for (int64_t g = 0; g < shard->groups; g++) {
        int64_t row = shard->first + g - record->row0, at = row * run->options.draws + draw;
        int64_t c = g * run->replicas;
        const int32_t *codes = chains->codes + c * space->n_variables;
        if (draw > 0 && draw == first_half && record->grows > 0) {
            merge_halves(record, row, draw);
        }
        record->log_prob[at] = chains->f[c];
        record->distance[at] = reference_distance(record, shard, c);
        count_codes(space, codes, record->counts + (2 * row + half) * space->bins);
        if (record->moments) {
            add_moments(space, codes, draw + 1 - half * first_half,
                        record->moments + (2 * row + half) * space->n_variables);
        }
        if (record->draws) {
            sali_run_expand(run, 1, codes, shard->full);
            store_draw(record, shard->full, at);
        }
    }
}

/* ---- the end */

sal_status sali_record_collect(const sali_draw_record *record, sal_error *err)
{
    sal_run *run = record->run;
    const int64_t draws = run->options.draws, made = run->draws_made;
    const int64_t bins = run->model->space->bins, V = run->model->space->n_variables;
    const size_t codes = (size_t)(run->base->space->n_variables * record->draw_bytes);
    const struct {
        void *rows;
        int64_t stride, each;
        size_t size;
    } all[] = {
        { record->log_prob, draws, made, sizeof *record->log_prob },
        { record->distance, draws, made, sizeof *record->distance },
        { record->counts, 2 * bins, 2 * bins, sizeof *record->counts },
        { record->moments, 2 * V, 2 * V, sizeof *record->moments },
        { record->draws, draws, made, codes },
    };
    sal_status status = SAL_OK;
    for (size_t k = 0; status == SAL_OK && k < sizeof all / sizeof *all; k++) {
        status = sali_sync_rows(run, record->row0, all[k].rows, all[k].stride, all[k].each,
                                all[k].size, err);
    }
    return status;
}

/* Move rows of `draws` entries, of `size` bytes each, together to rows of `made` entries. */
static void close_gaps(void *array, int64_t chains, int64_t draws, int64_t made, size_t size)
{
    char *bytes = array;
    for (int64_t c = 1; bytes && made < draws && c < chains; c++) {
        memmove(bytes + (size_t)(c * made) * size, bytes + (size_t)(c * draws) * size,
                (size_t)made * size);
    }
}

/* ---- for another run to resume from */

typedef struct past {
    const sal_run *run;
    int32_t *codes;  /* [chains x V] */
    double *figures; /* [SALI_NOTED x chains] NaN but for f */
} past;

/* The `read` of a replay: draw number `index` after warm-up, from the records of a run that is
 * over. */
static sal_status read_past(void *source, bool warmup, int64_t index, sal_draw *draw,
                            sal_error *err)
{
    past *m = source;
    const sal_run *run = m->run;
    int64_t chains = run->options.chains, V = run->base->space->n_variables;
    if (warmup || index >= run->draws_made) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "runs do not keep the states of warm-up: write them to a file NAME.nc");
    }
    for (int64_t c = 0; c < chains; c++) {
        m->figures[SALI_NOTED_LP * chains + c] =
            sali_run_record(run)->log_prob[c * run->draws_made + index];
        for (int64_t v = 0; v < V; v++) {
            m->codes[c * V + v] = sali_run_draw(run, c, index, v);
        }
    }
    *draw = sali_draw_of(false, index, chains, V, m->codes, m->figures);
    return SAL_OK;
}

/* Let the state of the run read the draws that are in memory. */
static sal_status keep_past(const sali_draw_record *record, sal_error *err)
{
    sal_run *run = record->run;
    int64_t chains = run->options.chains;
    if (!record->draws || record->rows < chains) {
        return SAL_OK;
    }
    past *m = SALI_TAKE(&run->memory, past, 1);
    if (!m) {
        return sali_fail_memory(err);
    }
    m->run = run;
    m->codes = SALI_TAKE(&run->memory, int32_t, chains * run->base->space->n_variables);
    m->figures = SALI_TAKE(&run->memory, double, SALI_NOTED *chains);
    for (int64_t k = 0; m->figures && k < SALI_NOTED * chains; k++) {
        m->figures[k] = NAN;
    }
    run->state->replay = (sali_replay){ .source = m, .read = read_past, .made = run->draws_made };
    return sali_memory_status(&run->memory, err);
}

/* Bring the records to rank 0, and close the gaps that draws leave between the chains if a stopped
 * run did not make them. */
static sal_status finish(void *self, sal_error *err)
{
    const sali_draw_record *record = self;
    const sal_run *run = record->run;
    const int64_t chains = record->rows, draws = run->options.draws, made = run->draws_made;
    sal_status status = sali_record_collect(record, err);
    if (status == SAL_OK) {
        close_gaps(record->log_prob, chains, draws, made, sizeof *record->log_prob);
        close_gaps(record->distance, chains, draws, made, sizeof *record->distance);
        close_gaps(record->draws, chains, draws, made,
                   (size_t)(run->base->space->n_variables * record->draw_bytes));
    }
    return sali_sync_status(record->run, status ? status : keep_past(record, err), err);
}

const sali_run_part sali_part_record = {
    .name = "record",
    .replayed = true,
    .wanted = is_wanted,
    .size = sizeof(sali_draw_record),
    .create = create,
    .draw = draw,
    .finish = finish,
};

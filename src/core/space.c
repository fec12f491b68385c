/* SPDX-License-Identifier: MIT */
#include "core/space.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/slice.h"
#include "core/text.h"
#include "core/vector/clones.h"

const char *sali_kind_name(sal_kind kind)
{
    static const char *const names[] = { "", "binary", "spin", "ordinal", "categorical", "count" };
    return names[kind];
}

/* Sizes are bounded so that products of a few of them cannot overflow. */
#define MAX_VARIABLES (INT64_C(1) << 25) /* two random words each, in one stream */
#define MAX_STATES (1 << 20)

static const double binary_levels[] = { 0.0, 1.0 };
static const double spin_levels[] = { -1.0, 1.0 };

sal_space *sal_space_create(void)
{
    return SALI_NEW(sal_space);
}

void sal_space_destroy(sal_space *space)
{
    if (!space || atomic_fetch_sub(&space->others, 1) > 0) {
        return;
    }
    for (int64_t b = 0; b < space->n_blocks; b++) {
        sali_free((void *)space->blocks[b].name);
        sali_free((void *)space->blocks[b].levels);
        sali_free((void *)space->blocks[b].letters);
        if (space->blocks[b].kind == SAL_COUNT) {
            sali_free((void *)space->stretches[b].levels);
        }
        sali_free((void *)space->stretches[b].fixed_codes);
    }
    sali_free(space->blocks);
    sali_free(space->variables);
    sali_free(space->stretches);
    sali_free(space);
}

static bool name_is_good(const char *name)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return name && name[0] && strspn(name, letters) == strlen(name);
}

/* SAL_ERR_ARGUMENT if the cap is out of range, or the block is no block of counts and has one. */
static sal_status check_cap(const sal_block *block, sal_error *err)
{
    if (block->cap != 0 && block->kind != SAL_COUNT) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': a cap is for counts only",
                         block->name);
    }
    if (block->cap < 0 || block->cap >= MAX_STATES) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': cap %lld; expected 1 to %d, or 0 for none", block->name,
                         (long long)block->cap, MAX_STATES - 1);
    }
    return SAL_OK;
}

/* The number of states that a block of counts has: cap + 1, or 0 without a cap. */
static int64_t count_states(const sal_block *block)
{
    return block->cap > 0 ? block->cap + 1 : 0;
}

/* SAL_ERR_ARGUMENT unless the block's numbers of states and levels fit its kind: levels only for
 * ordinals, finite and increasing. */
static sal_status check_states(const sal_block *block, sal_error *err)
{
    bool grid = block->kind == SAL_ORDINAL, labels = block->kind == SAL_CATEGORICAL;
    if (grid || labels) {
        int64_t least = grid ? 2 : 1;
        if (block->states < least || block->states > MAX_STATES) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': %lld states; expected %lld to %d",
                             block->name, (long long)block->states, (long long)least, MAX_STATES);
        }
    } else if (block->kind == SAL_COUNT) {
        if (block->states != 0 && block->states != count_states(block)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "block '%s': %lld states; leave them 0 for a count, and set cap",
                             block->name, (long long)block->states);
        }
    } else if (block->states != 0 && block->states != 2) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': %lld states, but a binary or spin variable has 2",
                         block->name, (long long)block->states);
    }
    if (block->levels && !grid) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': levels are for ordinal variables only",
                         block->name);
    }
    for (int64_t k = 0; block->levels && k < block->states; k++) {
        if (!isfinite(block->levels[k]) || (k > 0 && block->levels[k] <= block->levels[k - 1])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "block '%s': level %lld is %g; levels must be finite and increase",
                             block->name, (long long)k, block->levels[k]);
        }
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT unless the block's letters, if it has any, are an alphabet of its states. */
static sal_status check_letters(const sal_block *block, sal_error *err)
{
    const int64_t n = block->letters ? (int64_t)strlen(block->letters) : 0;
    if (block->letters && (block->kind != SAL_CATEGORICAL || n != block->states)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': %lld letters; only categorical variables have letters, one "
                         "for each label",
                         block->name, (long long)n);
    }
    sal_status status = block->letters ? sali_letters_check(block->letters, err) : SAL_OK;
    return status ? sali_fail_prefix(err, status, "block '%s'", block->name) : status;
}

/* ---- fixed sums and labels */

/* SAL_ERR_ARGUMENT unless some state of the block has its fixed sum. */
static sal_status check_sum(const sal_block *block, sal_error *err)
{
    const int64_t n = block->count, sum = block->sum;
    const bool spin = block->kind == SAL_SPIN, count = block->kind == SAL_COUNT;
    if (!spin && !count && block->kind != SAL_BINARY) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': a fixed sum is for binary variables, spins and counts; of "
                         "labels their numbers can be fixed",
                         block->name);
    }
    if (count && block->cap == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': a fixed sum of counts needs a cap; the sum itself is one",
                         block->name);
    }
    const int64_t low = spin ? -n : 0, high = count ? n * block->cap : n;
    if (sum < low || sum > high || (spin && (sum - low) % 2 != 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': no state has the sum %lld; expected %s%lld to %lld",
                         block->name, (long long)sum,
                         spin ? n % 2 ? "an odd number from " : "an even number from " : "",
                         (long long)low, (long long)high);
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT unless the numbers of labels are a block's: not negative, and summing to its
 * variables. */
static sal_status check_labels(const sal_block *block, sal_error *err)
{
    int64_t left = block->count;
    if (block->kind != SAL_CATEGORICAL) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "block '%s': numbers of labels are for categorical variables only",
                         block->name);
    }
    for (int64_t k = 0; k < block->states; k++) {
        if (block->labels[k] < 0 || block->labels[k] > left) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "block '%s': label %lld occurs %lld times; expected numbers from 0 "
                             "that sum to the %lld variables",
                             block->name, (long long)k, (long long)block->labels[k],
                             (long long)block->count);
        }
        left -= block->labels[k];
    }
    return left == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "block '%s': the numbers of its labels sum to %lld, and it has "
                           "%lld variables",
                           block->name, (long long)(block->count - left), (long long)block->count);
}

static sal_status check_fixed(const sal_block *block, sal_error *err)
{
    if (block->sum != 0 && !block->fixed_sum) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': a sum without fixed_sum", block->name);
    }
    sal_status status = block->fixed_sum ? check_sum(block, err) : SAL_OK;
    return status || !block->labels ? status : check_labels(block, err);
}

/* Give a stretch the fixed sum or labels of its checked block. Returns false when out of memory. */
static bool fix_stretch(const sal_block *block, sali_stretch *stretch)
{
    const int64_t ones = block->kind == SAL_SPIN ? (block->sum + block->count) / 2 : block->sum;
    const int64_t codes[2] = { block->count - ones, ones };
    stretch->fixed_codes = NULL;
    stretch->fixed_total = -1;
    if (block->fixed_sum && !sali_two_level(stretch)) {
        stretch->fixed_total = block->sum;
    } else if (block->fixed_sum || block->labels) {
        stretch->fixed_codes =
            sali_memdup(block->fixed_sum ? codes : block->labels, stretch->states, sizeof *codes);
        return stretch->fixed_codes;
    }
    return true;
}

/* SAL_ERR_ARGUMENT unless `block` may be added to `space`: good and new name, known kind, number of
 * variables, cap, states and levels. */
static sal_status check_block(const sal_space *space, const sal_block *block, sal_error *err)
{
    if (!name_is_good(block->name)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a block needs a name of letters, digits, '_', '-', '.'; got '%s'",
                         block->name ? block->name : "(none)");
    }
    if (block->kind < SAL_BINARY || block->kind > SAL_COUNT) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': unknown kind %d", block->name,
                         (int)block->kind);
    }
    if (block->count < 1 || block->count > MAX_VARIABLES - space->n_variables) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': %lld variables; a space has 1 to %lld",
                         block->name, (long long)block->count, (long long)MAX_VARIABLES);
    }
    for (int64_t b = 0; b < space->n_blocks; b++) {
        if (strcmp(space->blocks[b].name, block->name) == 0) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "block '%s': the name is taken", block->name);
        }
    }
    sal_status status = check_cap(block, err);
    status = status ? status : check_states(block, err);
    status = status ? status : check_letters(block, err);
    return status ? status : check_fixed(block, err);
}

/* Levels of an ordinal block or of counts with a cap: the user's, or 0, 1, 2, ... */
static double *copy_levels(const sal_block *block)
{
    if (block->levels) {
        return sali_memdup(block->levels, block->states, sizeof(double));
    }
    double *levels = SALI_NEW_ARRAY(double, block->states);
    for (int64_t k = 0; levels && k < block->states; k++) {
        levels[k] = (double)k;
    }
    return levels;
}

/* Room for one more block of `count` variables; not 0: out of memory. */
static int make_room(sal_space *space, int64_t count)
{
    return sali_grow((void **)&space->blocks, &space->blocks_room, space->n_blocks + 1,
                     sizeof(sal_block)) |
           sali_grow((void **)&space->stretches, &space->stretches_room, space->n_blocks + 1,
                     sizeof(sali_stretch)) |
           sali_grow((void **)&space->variables, &space->variables_room, space->n_variables + count,
                     sizeof(sali_variable));
}

/* Append the variables of a stretch to the tables, for which there is room. */
static void append_variables(sal_space *space, const sali_stretch *stretch)
{
    const int32_t states = stretch->states, entries = sali_entries(states);
    const int32_t width = stretch->kind == SAL_CATEGORICAL ? states : 1;
    const int32_t slots = sali_two_level(stretch) ? 1 : entries;
    space->stretches[space->n_blocks] = *stretch;
    space->fixed |= sali_is_fixed(stretch);
    for (int64_t i = 0; i < stretch->count; i++) {
        space->variables[space->n_variables++] = (sali_variable){
            .kind = stretch->kind,
            .states = states,
            .width = width,
            .offset = space->width,
            .slot = space->slots,
            .bin = space->bins,
            .levels = stretch->levels,
        };
        space->width += width;
        space->slots += slots;
        space->bins += states > 0 ? slots : SAL_COUNT_LEVELS;
        space->n_states += entries;
    }
    space->max_states = entries > space->max_states ? entries : space->max_states;
    space->unbounded |= states == 0;
}

sal_status sal_space_add(sal_space *space, const sal_block *block, sal_error *err)
{
    if (!space || !block) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_space_add: space or block is NULL");
    }
    sal_status status = check_block(space, block, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_block copy = *block;
    if (copy.kind == SAL_BINARY || copy.kind == SAL_SPIN) {
        copy.states = 2;
    }
    if (copy.kind == SAL_COUNT) {
        copy.states = count_states(&copy);
    }
    bool grid = copy.kind == SAL_ORDINAL || (copy.kind == SAL_COUNT && copy.cap > 0);
    double *own = grid ? copy_levels(&copy) : NULL;
    sali_stretch stretch = { .kind = copy.kind,
                             .states = (int32_t)copy.states,
                             .first = space->n_variables,
                             .count = copy.count,
                             .offset = space->width,
                             .slot = space->slots,
                             .bin = space->bins,
                             .levels = copy.kind == SAL_BINARY ? binary_levels
                                       : copy.kind == SAL_SPIN ? spin_levels
                                                               : own };
    copy.name = sali_strdup(block->name);
    copy.levels = copy.kind == SAL_ORDINAL ? own : NULL;
    copy.letters = block->letters ? sali_strdup(block->letters) : NULL;
    if (!copy.name || (grid && !own) || (block->letters && !copy.letters) ||
        !fix_stretch(&copy, &stretch) || make_room(space, copy.count) != 0) {
        sali_free((void *)copy.name);
        sali_free((void *)copy.letters);
        sali_free((void *)stretch.fixed_codes);
        sali_free(own);
        return sali_fail_memory(err);
    }
    copy.labels = copy.labels ? stretch.fixed_codes : NULL;
    append_variables(space, &stretch);
    space->blocks[space->n_blocks++] = copy;
    return SAL_OK;
}

sal_status sal_space_fix_sum(sal_space *space, const char *block, int64_t sum, sal_error *err)
{
    char names[SAL_ERROR_SIZE] = "";
    if (!space || !block) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_space_fix_sum: space or block is NULL");
    }
    int64_t b = 0;
    while (b < space->n_blocks && strcmp(space->blocks[b].name, block) != 0) {
        sali_list_name(names, sizeof names, space->blocks[b++].name);
    }
    if (b == space->n_blocks) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "there is no block '%s'; there are: %s", block,
                         names[0] ? names : "none");
    }
    sal_block fixed = space->blocks[b];
    sali_stretch stretch = space->stretches[b];
    fixed.fixed_sum = true;
    fixed.sum = sum;
    sal_status status = check_fixed(&fixed, err);
    if (status == SAL_OK && !fix_stretch(&fixed, &stretch)) {
        status = sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        sali_free((void *)space->stretches[b].fixed_codes);
        space->blocks[b] = fixed;
        space->stretches[b] = stretch;
        space->fixed = true;
    }
    return status;
}

sal_status sal_space_permutation(sal_space *space, const char *name, int64_t n, sal_error *err)
{
    int64_t once[SALI_MOST_PERMUTED];
    if (n < 1 || n > SALI_MOST_PERMUTED) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "a permutation of %lld; expected 1 to %d",
                         (long long)n, SALI_MOST_PERMUTED);
    }
    for (int64_t k = 0; k < n; k++) {
        once[k] = 1;
    }
    return sal_space_add(
        space,
        &(sal_block){
            .name = name, .kind = SAL_CATEGORICAL, .count = n, .states = n, .labels = once },
        err);
}

sal_status sali_space_check_free(const sal_space *space, const char *name, const char *what,
                                 sal_error *err)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        if (sali_is_fixed(&space->stretches[b])) {
            return sali_fail(err, SAL_ERR_UNSUPPORTED,
                             "%s: %s cannot keep the fixed %s of block '%s'", name, what,
                             space->blocks[b].fixed_sum ? "sum" : "labels", space->blocks[b].name);
        }
    }
    return SAL_OK;
}

int64_t sal_space_variables(const sal_space *space)
{
    return space->n_variables;
}

int64_t sal_space_width(const sal_space *space)
{
    return space->width;
}

const sal_block *sal_space_block(const sal_space *space, int64_t index)
{
    return index >= 0 && index < space->n_blocks ? &space->blocks[index] : NULL;
}

int64_t sal_space_states(const sal_space *space, int64_t variable)
{
    return variable >= 0 && variable < space->n_variables ? space->variables[variable].states : 0;
}

/* Whether two variables have the same kind, number of states and levels. */
static bool equal_variables(const sali_variable *a, const sali_variable *b)
{
    bool equal = a->kind == b->kind && a->states == b->states && a->width == b->width &&
                 !a->levels == !b->levels;
    for (int32_t code = 0; equal && a->levels && code < a->states; code++) {
        equal = a->levels[code] == b->levels[code];
    }
    return equal;
}

/* Whether two spaces of equal variables fix the same sums and labels. Blocks that are free may be
 * divided differently. */
static bool equal_fixed(const sal_space *a, const sal_space *b)
{
    bool equal = a->fixed == b->fixed && (!a->fixed || a->n_blocks == b->n_blocks);
    for (int64_t k = 0; equal && a->fixed && k < a->n_blocks; k++) {
        const sali_stretch *s = &a->stretches[k], *t = &b->stretches[k];
        equal = s->first == t->first && s->fixed_total == t->fixed_total &&
                !s->fixed_codes == !t->fixed_codes &&
                (!s->fixed_codes || memcmp(s->fixed_codes, t->fixed_codes,
                                           (size_t)s->states * sizeof *s->fixed_codes) == 0);
    }
    return equal;
}

bool sali_space_equal(const sal_space *a, const sal_space *b)
{
    bool equal = a->n_variables == b->n_variables;
    for (int64_t v = 0; equal && v < a->n_variables; v++) {
        equal = equal_variables(&a->variables[v], &b->variables[v]);
    }
    return equal && equal_fixed(a, b);
}

/* Add to `to` the variables of block b that have no code in codes [V], given those that have one.
 */
static sal_status add_rest(const sal_space *space, int64_t b, const int32_t *codes, sal_space *to,
                           sal_error *err)
{
    const sali_stretch *s = &space->stretches[b];
    sal_block block = space->blocks[b];
    int64_t *labels = NULL;
    if (block.labels && !(labels = sali_memdup(block.labels, s->states, sizeof *labels))) {
        return sali_fail_memory(err);
    }
    block.labels = labels;
    for (int64_t v = s->first; codes && v < s->first + s->count; v++) {
        block.count -= codes[v] >= 0;
        if (codes[v] >= 0 && block.fixed_sum) {
            block.sum -= (int64_t)s->levels[codes[v]];
        }
        if (codes[v] >= 0 && labels) {
            labels[codes[v]]--;
        }
    }
    sal_status status = check_fixed(&block, err);
    if (status != SAL_OK) {
        status = sali_fail_prefix(err, status, "given the codes of other variables");
    } else if (block.count > 0) {
        status = sal_space_add(to, &block, err);
    }
    sali_free(labels);
    return status;
}

sal_status sali_space_subset(const sal_space *space, const int32_t *codes, sal_space **out,
                             sal_error *err)
{
    sal_space *made = sal_space_create();
    sal_status status = made ? SAL_OK : sali_fail_memory(err);
    for (int64_t b = 0; status == SAL_OK && b < space->n_blocks; b++) {
        status = add_rest(space, b, codes, made, err);
    }
    if (status != SAL_OK) {
        sal_space_destroy(made);
        return status;
    }
    *out = made;
    return SAL_OK;
}

double sali_stretch_spacing(const sali_stretch *s)
{
    return s->levels && s->states > 1 ? (s->levels[s->states - 1] - s->levels[0]) / (s->states - 1)
                                      : 1;
}

sal_space *sali_space_clone(const sal_space *space)
{
    if (space->settled) {
        atomic_fetch_add(&((sal_space *)space)->others, 1);
        return (sal_space *)space;
    }
    sal_space *copy = NULL;
    if (sali_space_subset(space, NULL, &copy, NULL) == SAL_OK) {
        copy->settled = true;
    }
    return copy;
}

int64_t sali_space_owner(const sal_space *space, int64_t coordinate)
{
    int64_t low = 0, high = space->n_blocks - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (space->stretches[middle].offset <= coordinate) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const sali_stretch *s = &space->stretches[low];
    return s->first + (coordinate - s->offset) / (s->kind == SAL_CATEGORICAL ? s->states : 1);
}

/* SAL_ERR_ARGUMENT unless codes in range have the fixed sum or labels of block b. */
static sal_status check_fixed_codes(const sal_space *space, int64_t b, int64_t chain,
                                    const int32_t *codes, sal_error *err)
{
    const sali_stretch *s = &space->stretches[b];
    const sal_block *block = &space->blocks[b];
    int64_t sum = 0;
    for (int64_t i = 0; i < s->count; i++) {
        sum += codes[s->first + i];
    }
    if (block->fixed_sum) {
        const int64_t total = s->fixed_codes ? s->fixed_codes[1] : s->fixed_total;
        const bool spin = block->kind == SAL_SPIN;
        return sum == total
                   ? SAL_OK
                   : sali_fail(err, SAL_ERR_ARGUMENT,
                               "chain %lld: block '%s' sums to %lld; its sum is fixed to %lld",
                               (long long)chain, block->name,
                               (long long)(spin ? 2 * sum - s->count : sum), (long long)block->sum);
    }
    for (int32_t k = 0; k < s->states; k++) {
        int64_t n = 0;
        for (int64_t i = 0; i < s->count; i++) {
            n += codes[s->first + i] == k;
        }
        if (n != s->fixed_codes[k]) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "chain %lld: block '%s' has label %d %lld times; expected %lld",
                             (long long)chain, block->name, k, (long long)n,
                             (long long)s->fixed_codes[k]);
        }
    }
    return SAL_OK;
}

sal_status sali_codes_check(const sal_space *space, int64_t chains, const int32_t *codes,
                            sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t c = 0; status == SAL_OK && c < chains; c++) {
        const int32_t *row = codes + c * space->n_variables;
        for (int64_t v = 0; v < space->n_variables; v++) {
            if (!sali_has_code(&space->variables[v], row[v])) {
                return sali_fail(
                    err, SAL_ERR_ARGUMENT, "chain %lld, variable %lld: code %d; expected 0 to %d",
                    (long long)c, (long long)v, row[v], sali_last_code(&space->variables[v]));
            }
        }
        for (int64_t b = 0; status == SAL_OK && b < space->n_blocks; b++) {
            status = sali_is_fixed(&space->stretches[b]) ? check_fixed_codes(space, b, c, row, err)
                                                         : SAL_OK;
        }
    }
    return status;
}

sal_status sal_space_embed(const sal_space *space, int64_t chains, const int32_t *codes, double *x,
                           sal_error *err)
{
    sal_status status = sali_codes_check(space, chains, codes, err);
    if (status == SAL_OK) {
        sali_embed_f64(space, chains, codes, x);
    }
    return status;
}

/* How many of n codes differ. */
SALI_CLONES
static int64_t count_moved(int64_t n, const int32_t *a, const int32_t *b)
{
    int64_t total = 0;
    for (int64_t first = 0; first < n; first += INT32_MAX) {
        int64_t end = n - first < INT32_MAX ? n : first + INT32_MAX;
        int32_t moved = 0; /* as wide as a code, so that vectors of both have as many elements */
        for (int64_t i = first; i < end; i++) {
            moved += a[i] != b[i];
        }
        total += moved;
    }
    return total;
}

int64_t sali_codes_moved(int64_t n, const int32_t *a, const int32_t *b)
{
    return count_moved(n, a, b);
}

double sali_distance(const sal_space *space, const int32_t *a, const int32_t *b)
{
    double sum = 0;
    for (int64_t k = 0; k < space->n_blocks; k++) {
        const sali_stretch *s = &space->stretches[k];
        const int32_t *from = a + s->first, *to = b + s->first;
        if (s->kind == SAL_CATEGORICAL) {
            sum += 2 * (double)count_moved(s->count, from, to);
        } else if (s->states == 2) {
            sum += (s->levels[1] - s->levels[0]) * (double)count_moved(s->count, from, to);
        } else if (s->states == 0) {
            for (int64_t i = 0; i < s->count; i++) {
                sum += fabs((double)to[i] - (double)from[i]);
            }
        } else {
            for (int64_t i = 0; i < s->count; i++) {
                sum += fabs(s->levels[to[i]] - s->levels[from[i]]);
            }
        }
    }
    return sum;
}

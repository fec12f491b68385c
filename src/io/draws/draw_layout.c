#include "io/draws/draw_layout.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/name_table.h"
#include "models/model.h"
#include "models/names.h"

/* What a window of draws, and a chunk of them, take at most; and a chunk at least, if it can. */
#define WINDOW_BYTES ((int64_t)4 << 20)
#define WINDOW_DRAWS 1024
#define CHUNK_BYTES ((int64_t)1 << 20)
#define CHUNK_LEAST ((int64_t)64 << 10)

/* What definitions take in the file at most: each block, and all else. */
#define BLOCK_BYTES ((int64_t)32 << 10)
#define OTHER_BYTES ((int64_t)256 << 10)

/* The longest list of levels among the attributes, which should stay small. */
#define MOST_LEVELS 4096

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- names */

/* A name that no variable or dimension has yet, made of `name` and `suffix`; letters, digits and
 * '_' begin one in netCDF. NULL when out of memory. */
static char *new_name(sali_name_table *taken, const char *name, const char *suffix)
{
    size_t room = strlen(name) + strlen(suffix) + 32;
    char *text = sali_alloc((int64_t)room, 1);
    if (!text) {
        return NULL;
    }
    const char *before = name[0] == '-' || name[0] == '.' ? "_" : "";
    snprintf(text, room, "%s%s%s", before, name, suffix);
    for (int64_t k = 2; sali_name_table_find(taken, text, (int64_t)strlen(text)) >= 0; k++) {
        snprintf(text, room, "%s%s%s_%lld", before, name, suffix, (long long)k);
    }
    if (sali_name_table_put(taken, text, (int64_t)strlen(text)) < 0) {
        sali_free(text);
        return NULL;
    }
    return text;
}

/* Names of all variables, then of their dimensions: a variable may not bear a dimension's name. */
static bool name_blocks(sali_draw_layout *l, const sal_space *space)
{
    sali_name_table taken = { 0 };
    bool ok =
        sali_name_table_put(&taken, "chain", 5) >= 0 && sali_name_table_put(&taken, "draw", 4) >= 0;
    for (int64_t b = 0; ok && b < l->n_blocks; b++) {
        l->blocks[b].variable = new_name(&taken, space->blocks[b].name, "");
        ok = l->blocks[b].variable != NULL;
    }
    for (int64_t b = 0; ok && b < l->n_blocks; b++) {
        l->blocks[b].dimension = new_name(&taken, space->blocks[b].name, "_site");
        ok = l->blocks[b].dimension != NULL;
    }
    sali_name_table_clear(&taken);
    return ok;
}

static const char *name_of(const sal_model *model, int64_t v)
{
    const sali_names *names = model->names;
    bool named = names && names->names && names->variables == model->space->n_variables;
    return named ? names->names[v] : NULL;
}

/* The dimension of `n` variables of a block, with its coordinate: their names if all have one, else
 * their numbers within the block. */
static int define_sites(sali_netcdf *file, int group, const sal_model *model,
                        const sali_draw_block *block, int64_t n, const int64_t *variables)
{
    char **texts = SALI_NEW_ARRAY(char *, n);
    int64_t *numbers = SALI_NEW_ARRAY(int64_t, n), zero = 0;
    bool named = true;
    if (!texts || !numbers) {
        sali_netcdf_no_memory(file);
    }
    for (int64_t k = 0; texts && numbers && k < n; k++) {
        texts[k] = (char *)name_of(model, variables[k]);
        numbers[k] = variables[k] - block->first;
        named = named && texts[k];
    }
    int dimension = sali_netcdf_dimension(file, group, block->dimension, n);
    if (named) {
        sali_netcdf_texts(file, group, block->dimension, dimension, texts);
    } else {
        int variable = sali_netcdf_variable(file, group, block->dimension, SALI_DTYPE_I64, 1,
                                            &dimension, NULL, 0);
        sali_netcdf_write(file, group, variable, &zero, &n, numbers);
    }
    sali_free(texts);
    sali_free(numbers);
    return dimension;
}

/* ---- groups */

/* The dimensions chain and draw of a group, with their coordinates; the variable `draw`. */
static int define_axes(const sali_draw_layout *l, sali_netcdf *file, int group, int dimensions[2])
{
    int64_t zero = 0, n = l->chains;
    int64_t *numbers = SALI_NEW_ARRAY(int64_t, n);
    if (!numbers) {
        sali_netcdf_no_memory(file);
    }
    for (int64_t c = 0; numbers && c < n; c++) {
        numbers[c] = c;
    }
    dimensions[0] = sali_netcdf_dimension(file, group, "chain", n);
    dimensions[1] = sali_netcdf_dimension(file, group, "draw", 0);
    int chain =
        sali_netcdf_variable(file, group, "chain", SALI_DTYPE_I64, 1, &dimensions[0], NULL, 0);
    sali_netcdf_write(file, group, chain, &zero, &n, numbers);
    sali_free(numbers);
    return sali_netcdf_variable(file, group, "draw", SALI_DTYPE_I64, 1, &dimensions[1], &l->window,
                                8 * l->window);
}

static void note_kind(sali_netcdf *file, int group, int variable, const sal_block *block)
{
    static const char *const kinds[] = { "", "binary", "spin", "ordinal", "categorical", "count" };
    sali_netcdf_note_text(file, group, variable, "kind", kinds[block->kind]);
    if (block->levels && block->states <= MOST_LEVELS) {
        sali_netcdf_note_double(file, group, variable, "levels", block->states, block->levels);
    }
}

/* The variable of a block: chunks of a window of draws, of as many sites, then as many chains, as
 * make a good size. */
static int define_block(const sali_draw_layout *l, sali_netcdf *file, int group,
                        const sali_draw_block *block, const int axes[2], int sites)
{
    int dimensions[3] = { axes[0], axes[1], sites };
    int64_t bytes = sali_dtype_bytes(block->dtype);
    int64_t chunk[3] = { 1, l->window, 1 };
    chunk[2] = clamp(CHUNK_BYTES / (l->window * bytes), 1, block->count);
    chunk[0] = clamp(CHUNK_LEAST / (l->window * chunk[2] * bytes), 1, l->chains);
    return sali_netcdf_variable(file, group, block->variable, block->dtype, 3, dimensions, chunk,
                                l->chains * l->window * block->count * bytes + CHUNK_BYTES);
}

static sal_status define_posterior(sali_draw_layout *l, sali_netcdf *file, const sal_model *model,
                                   sali_draw_section *s, const char *name, sal_error *err)
{
    int axes[2];
    int64_t *variables = SALI_NEW_ARRAY(int64_t, l->V);
    s->blocks = SALI_NEW_ARRAY(int, l->n_blocks);
    s->posterior = sali_netcdf_group(file, name);
    s->posterior_draw = define_axes(l, file, s->posterior, axes);
    bool ok = variables && s->blocks;
    for (int64_t v = 0; ok && v < l->V; v++) {
        variables[v] = v;
    }
    for (int64_t b = 0; ok && b < l->n_blocks; b++) {
        const sali_draw_block *block = &l->blocks[b];
        int sites =
            define_sites(file, s->posterior, model, block, block->count, variables + block->first);
        s->blocks[b] = define_block(l, file, s->posterior, block, axes, sites);
        note_kind(file, s->posterior, s->blocks[b], &model->space->blocks[b]);
    }
    sali_free(variables);
    return ok ? sali_netcdf_status(file, err) : sali_fail_memory(err);
}

static sal_status define_stats(sali_draw_layout *l, sali_netcdf *file, sali_draw_section *s,
                               const char *name, sal_error *err)
{
    static const char *const names[SALI_DRAW_FIGURES] = { "lp", "acceptance_rate", "jump",
                                                          "step_size" };
    int axes[2];
    int64_t chunk[2] = { 1, l->window };
    chunk[0] = clamp(CHUNK_BYTES / (8 * l->window), 1, l->chains);
    s->stats = sali_netcdf_group(file, name);
    s->stats_draw = define_axes(l, file, s->stats, axes);
    for (int64_t k = 0; k < l->figures; k++) {
        s->figures[k] = sali_netcdf_variable(file, s->stats, names[k], SALI_DTYPE_F64, 2, axes,
                                             chunk, 8 * l->chains * l->window + CHUNK_BYTES);
    }
    return sali_netcdf_status(file, err);
}

/* ---- clamped variables */

/* Those of a block, in its order: variables and codes [n of them]; `bytes` [n] is room. */
static void define_observed_block(const sali_draw_layout *l, sali_netcdf *file,
                                  const sal_model *model, int64_t b, int64_t n,
                                  const int64_t *variables, const int32_t *codes, uint8_t *bytes)
{
    const sali_draw_block *block = &l->blocks[b];
    int64_t zero = 0;
    for (int64_t k = 0; k < n; k++) {
        bytes[k] = (uint8_t)codes[k];
    }
    int sites = define_sites(file, l->observed, model, block, n, variables);
    int variable =
        sali_netcdf_variable(file, l->observed, block->variable, block->dtype, 1, &sites, NULL, 0);
    note_kind(file, l->observed, variable, &model->space->blocks[b]);
    sali_netcdf_write(file, l->observed, variable, &zero, &n,
                      block->dtype == SALI_DTYPE_U8 ? (const void *)bytes : codes);
}

static sal_status check_clamped(const sal_model *model, const sal_run_options *o, sal_error *err)
{
    const sal_space *space = model->space;
    for (int64_t k = 0; k < o->clamped; k++) {
        int64_t v = o->clamp_variables[k], code = o->clamp_codes[k];
        int64_t states = v >= 0 && v < space->n_variables ? space->variables[v].states : -1;
        if (states < 0 || code < 0 || (states > 0 && code >= states)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "clamped variable %lld = %lld: there is no such variable or state",
                             (long long)v, (long long)code);
        }
    }
    return SAL_OK;
}

static sal_status define_observed(sali_draw_layout *l, sali_netcdf *file, const sal_model *model,
                                  const sal_run_options *o, sal_error *err)
{
    if (o->clamped <= 0) {
        return SAL_OK;
    }
    int32_t *given = SALI_NEW_ARRAY(int32_t, l->V); /* 1 + the code; 0: free */
    int32_t *codes = SALI_NEW_ARRAY(int32_t, l->V);
    int64_t *variables = SALI_NEW_ARRAY(int64_t, l->V);
    uint8_t *bytes = SALI_NEW_ARRAY(uint8_t, l->V);
    bool ok = given && codes && variables && bytes;
    for (int64_t k = 0; ok && k < o->clamped; k++) {
        given[o->clamp_variables[k]] = 1 + o->clamp_codes[k];
    }
    l->observed = sali_netcdf_group(file, "observed_data");
    for (int64_t b = 0; ok && b < l->n_blocks; b++) {
        int64_t n = 0, end = l->blocks[b].first + l->blocks[b].count;
        for (int64_t v = l->blocks[b].first; v < end; v++) {
            if (given[v]) {
                variables[n] = v;
                codes[n++] = given[v] - 1;
            }
        }
        if (n > 0) {
            define_observed_block(l, file, model, b, n, variables, codes, bytes);
        }
    }
    sali_free(given);
    sali_free(codes);
    sali_free(variables);
    sali_free(bytes);
    return ok ? sali_netcdf_status(file, err) : sali_fail_memory(err);
}

/* ---- all of it */

/* Bytes of the names of all variables, and of their places. */
static int64_t bytes_of_names(const sal_model *model)
{
    int64_t bytes = 0;
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        const char *name = name_of(model, v);
        bytes += 64 + (name ? (int64_t)strlen(name) : 0);
    }
    return bytes;
}

static sal_status describe(sali_draw_layout *l, const sal_model *model, const sal_run_options *o,
                           sal_error *err)
{
    const sal_space *space = model->space;
    l->chains = o->chains == 0 ? 4 : o->chains;
    l->V = space->n_variables;
    l->n_blocks = space->n_blocks;
    if (l->chains < 1 || l->chains > INT32_MAX) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "chains %lld: expected 1 to %d",
                         (long long)l->chains, INT32_MAX);
    }
    l->blocks = SALI_NEW_ARRAY(sali_draw_block, l->n_blocks);
    if (!l->blocks) {
        return sali_fail_memory(err);
    }
    int64_t bytes = 0;
    for (int64_t b = 0; b < l->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        bool byte = s->states > 0 && s->states <= 256;
        l->blocks[b].first = s->first;
        l->blocks[b].count = s->count;
        l->blocks[b].dtype = byte ? SALI_DTYPE_U8 : SALI_DTYPE_I32;
        bytes += s->count * (byte ? 1 : 4);
    }
    if (__builtin_mul_overflow(bytes, l->chains, &bytes)) {
        return sali_fail_memory(err);
    }
    l->window = clamp(WINDOW_BYTES / bytes, 1, WINDOW_DRAWS);
    return name_blocks(l, space) ? SAL_OK : sali_fail_memory(err);
}

sal_status sali_draw_layout_define(sali_draw_layout *l, sali_netcdf *file, const sal_model *model,
                                   const sal_run_options *options,
                                   const sali_draw_arguments *arguments, int64_t figures,
                                   sal_error *err)
{
    static const char *const posteriors[] = { "posterior", "warmup_posterior" };
    static const char *const stats[] = { "sample_stats", "warmup_sample_stats" };
    l->figures = figures;
    l->n_sections = options->show_warmup ? 2 : 1;
    sal_status status = describe(l, model, options, err);
    status = status ? status : check_clamped(model, options, err);
    if (status == SAL_OK) {
        sali_netcdf_reserve(file, 3 * (bytes_of_names(model) + l->n_blocks * BLOCK_BYTES) +
                                      OTHER_BYTES + SALI_DRAW_ATTRIBUTES);
    }
    for (int k = 0; status == SAL_OK && k < l->n_sections; k++) {
        status = define_posterior(l, file, model, &l->sections[k], posteriors[k], err);
        status = status ? status : define_stats(l, file, &l->sections[k], stats[k], err);
    }
    status = status ? status : define_observed(l, file, model, options, err);
    return status ? status : sali_draw_note_origin(l, file, model, options, arguments, err);
}

void sali_draw_layout_free(sali_draw_layout *l)
{
    for (int64_t b = 0; l->blocks && b < l->n_blocks; b++) {
        sali_free(l->blocks[b].variable);
        sali_free(l->blocks[b].dimension);
    }
    sali_free(l->blocks);
    sali_free(l->sections[0].blocks);
    sali_free(l->sections[1].blocks);
    json_decref(l->configuration);
}

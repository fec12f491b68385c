/* SPDX-License-Identifier: MIT */
/* What saltus sample prints and writes. */
#include "cli/sample_output.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/pictures.h"
#include "cli/sheet.h"
#include "cli/show.h"
#include "cli/text.h"

/* ---- options */

bool cli_sample_streams(const cli_sample_outputs *o)
{
    return cli_has_suffix(o->out, ".nc");
}

/* Whether the draws are written as sequences: the file name has a suffix of a format of
 * alignments. */
static bool writes_sequences(const cli_sample_outputs *o)
{
    sal_format_info f;
    bool found = false;
    for (int64_t k = 0; o->out && !found && sal_format_list(k, &f); k++) {
        for (int i = 0; f.suffixes[i] && f.writes && strcmp(f.content, CLI_ALIGNMENT) == 0; i++) {
            found = found || cli_has_suffix(o->out, f.suffixes[i]);
        }
    }
    return found;
}

/* Whether the draws are written as a sheet of pictures. */
static bool writes_sheet(const cli_sample_outputs *o)
{
    return cli_has_suffix(o->out, ".png");
}

/* CLI_USAGE, after a message, unless states can be drawn as pictures of greys: their codes are
 * levels, one byte each. Codes of categorical variables are levels if --shape is given. */
static int check_pictures(const cli_sample_outputs *o, const sal_space *space)
{
    int64_t height, width;
    const sal_block *block;
    for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
        bool levels = block->kind == SAL_CATEGORICAL ? o->shape != NULL : block->kind != SAL_COUNT;
        if (!levels || block->states > UINT8_MAX + 1) {
            return cli_usage("--out %s: pictures are made of binary, spin or ordinal variables of "
                             "at most 256 levels, or of categorical ones with --shape, and '%s' "
                             "are others; expected a file name that ends in .npy or .nc",
                             o->out, block->name);
        }
    }
    return cli_sheet_sides(o->out, o->shape, sal_space_variables(space), &height, &width);
}

int cli_sample_check_model(const cli_sample_outputs *o, const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    char letters[SAL_ALPHABET_ROOM];
    sal_error err = { 0 };
    if (writes_sheet(o)) {
        return check_pictures(o, space);
    }
    return !writes_sequences(o) || sal_space_alphabet(space, o->alphabet, letters, &err) == SAL_OK
               ? CLI_OK
               : cli_usage("--out %s: %s", o->out, err.message);
}

/* Check --out and the options that go with it, and claim the file. Returns the exit code. */
static int check_out(const cli_sample_outputs *o)
{
    bool sequences = writes_sequences(o);
    if (o->out && !cli_sample_streams(o) && !sequences && !writes_sheet(o) &&
        !cli_has_suffix(o->out, ".npy")) {
        return cli_usage("--out %s: expected a file name that ends in .npy or .nc; for sequences "
                         "in .fasta, for pictures in .png",
                         o->out);
    }
    if (o->alphabet && !sequences) {
        return cli_usage("--alphabet %s goes with --out NAME.fasta", o->alphabet);
    }
    if (o->shape && !writes_sheet(o)) {
        return cli_usage("--shape wants --out NAME.png");
    }
    if (o->save_warmup && !cli_sample_streams(o)) {
        return cli_usage("--save-warmup wants --out NAME.nc");
    }
    return cli_claim_output(o->out);
}

/* Check that a path, if any, ends in .npy, and claim the file. Returns the exit code. */
static int check_npy(const char *option, const char *path)
{
    if (path && !cli_has_suffix(path, ".npy")) {
        return cli_usage("--%s %s: expected a file name that ends in .npy", option, path);
    }
    return cli_claim_output(path);
}

bool cli_sample_votes_on_states(const cli_sample_outputs *o)
{
    return o->vote && strcmp(o->vote, "state") == 0;
}

/* Check --vote and the options that go with it. Returns the exit code. */
static int check_vote(const cli_sample_outputs *o)
{
    if (o->vote && !cli_sample_votes_on_states(o) && strcmp(o->vote, "sites") != 0) {
        return cli_usage("--vote %s: expected 'state' or 'sites'", o->vote);
    }
    if ((o->ones != 0 && (!o->vote || cli_sample_votes_on_states(o))) || o->ones < 0) {
        return cli_usage("--vote-ones wants 1 or more, and --vote sites");
    }
    if (o->vote_out && !o->vote) {
        return cli_usage("--vote-out wants --vote");
    }
    return CLI_OK;
}

int cli_sample_check_outputs(const cli_sample_outputs *o)
{
    int code = check_out(o);
    code = code ? code : check_npy("best", o->best);
    code = code ? code : check_npy("vote-out", o->vote_out);
    code = code ? code : cli_claim_output(o->marginals);
    if (code == CLI_OK && o->show && o->json) {
        code = cli_usage("--show and --json: give one of them");
    }
    return code ? code : check_vote(o);
}

/* ---- one state */

static json_t *json_codes(int64_t n, const int32_t *codes)
{
    json_t *array = json_array();
    for (int64_t v = 0; v < n; v++) {
        json_array_append_new(array, json_integer(codes[v]));
    }
    return array;
}

/* Write codes [n] to a .npy file. Returns the exit code. */
static int write_state(const char *path, int64_t n, const int32_t *codes)
{
    sal_error err = { 0 };
    sal_array array = { .ndim = 1, .shape = { n }, .count = n, .whole = true };
    array.values = malloc((size_t)n * sizeof *array.values);
    for (int64_t v = 0; array.values && v < n; v++) {
        array.values[v] = codes[v];
    }
    sal_status status = array.values ? sal_array_write(path, &array, &err) : SAL_ERR_MEMORY;
    free(array.values);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

static int64_t variables_of(const sal_run *run)
{
    int64_t variables;
    sal_run_size(run, NULL, NULL, &variables);
    return variables;
}

/* Set codes [V] to the decoded state, if the model can decode, else to the best state. */
static sal_status find_best(const sal_run *run, int32_t *codes, sal_error *err)
{
    return sal_run_decoded(run, codes, NULL, NULL) == SAL_OK ? SAL_OK
                                                             : sal_run_best(run, codes, NULL, err);
}

/* Write the best state to a .npy file. Returns the exit code. */
static int write_best(const sal_run *run, const char *path)
{
    sal_error err = { 0 };
    int64_t n = variables_of(run);
    int32_t *codes = malloc((size_t)n * sizeof *codes);
    sal_status status = codes ? find_best(run, codes, &err) : SAL_ERR_MEMORY;
    int code = status == SAL_OK ? write_state(path, n, codes) : cli_fail(status, &err);
    free(codes);
    return code;
}

/* ---- the vote */

typedef struct vote {
    int64_t n;
    int32_t *codes; /* NULL: none */
    double log_prob;
    int64_t votes; /* draws with the state, in votes on states; else 0 */
    int64_t draws;
} vote;

/* Take the vote of --vote, if it is given, evaluate f at its state, and write the state to
 * --vote-out. Returns the exit code. */
static int cast_vote(const sal_run *run, sal_model *model, const cli_sample_outputs *o, vote *v)
{
    sal_error err = { 0 };
    int64_t chains, draws;
    if (!o->vote) {
        return CLI_OK;
    }
    sal_run_size(run, &chains, &draws, &v->n);
    v->draws = chains * draws;
    v->codes = malloc((size_t)v->n * sizeof *v->codes);
    sal_status status = !v->codes ? SAL_ERR_MEMORY
                        : cli_sample_votes_on_states(o)
                            ? sal_run_vote(run, v->codes, &v->votes, &err)
                            : sal_run_vote_by_dimension(run, o->ones, v->codes, &err);
    status =
        status ? status : sal_model_evaluate(model, 1, v->codes, &v->log_prob, NULL, NULL, &err);
    int code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    return code == CLI_OK && o->vote_out ? write_state(o->vote_out, v->n, v->codes) : code;
}

/* Print the line on the vote; nothing without one. */
static void print_vote(const vote *v)
{
    if (!v->codes) {
        return;
    }
    printf("majority         log prob %.10g", v->log_prob);
    if (v->votes > 0) {
        printf(", %lld of %lld draws", (long long)v->votes, (long long)v->draws);
    }
    putchar('\n');
}

/* Set "vote" of the summary; nothing without a vote. */
static void add_vote(json_t *object, const vote *v)
{
    if (!v->codes) {
        return;
    }
    json_t *entry = json_object();
    cli_json_number(entry, "log_prob", v->log_prob);
    json_object_set_new(entry, "votes", v->votes > 0 ? json_integer(v->votes) : json_null());
    json_object_set_new(entry, "state", json_codes(v->n, v->codes));
    json_object_set_new(object, "vote", entry);
}

/* Print what the vote's state chooses or, without a vote, the best state. Returns the exit code. */
static int show_state(const sal_run *run, const sal_model *model, const vote *v)
{
    sal_error err = { 0 };
    int32_t *best = v->codes ? NULL : malloc((size_t)variables_of(run) * sizeof *best);
    sal_status status = v->codes ? SAL_OK : best ? find_best(run, best, &err) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        putchar('\n');
        cli_show_state(model, v->codes ? v->codes : best);
    }
    free(best);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* ---- marginals */

/* Write the marginals of the draws to a file. Returns the exit code. */
static int write_marginals(const sal_run *run, const sal_model *model, const char *path)
{
    sal_error err = { 0 };
    double *marginals = cli_marginals(sal_model_space(model), NULL);
    sal_status status = marginals ? sal_run_marginals(run, marginals, &err) : SAL_ERR_MEMORY;
    status = status ? status : sal_marginals_write(path, model, marginals, NAN, &err);
    free(marginals);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* ---- the summary */

/* Print the summary as a JSON object. `variation`: NULL unless asked for. Returns the exit code. */
static int print_json(const sal_run *run, const vote *v, const sal_run_variation *variation)
{
    char *text = NULL;
    sal_error err = { 0 };
    sal_status status = sal_flat_run_summary(run, &text, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    json_t *object = cli_json_take(text);
    if (variation) {
        cli_json_number(object, "total_variation", variation->distance);
        cli_json_number(object, "total_variation_ideal", variation->ideal);
    }
    add_vote(object, v);
    return cli_json_print(object);
}

/* Print the summary as text. `variation`: NULL unless asked for. Returns the exit code. */
static int print_text(const sal_run *run, const vote *v, const sal_run_variation *variation)
{
    cli_print_remarks();
    if (sal_run_print_summary(run, stdout) != SAL_OK) {
        return CLI_IO;
    }
    print_vote(v);
    if (variation) {
        printf("total variation  %.4f to enumeration of %.0f states; %.4f is what as many "
               "independent draws as the ESS give\n",
               variation->distance, variation->states, variation->ideal);
    }
    return CLI_OK;
}

/* Print the summary, with the total variation if it was asked for. Returns the exit code. */
static int print_summary(const sal_run *run, const cli_sample_outputs *o, const vote *v)
{
    sal_run_variation variation;
    int64_t draws;
    sal_run_size(run, NULL, &draws, NULL);
    const sal_run_variation *found = o->check_exact && draws > 0 ? &variation : NULL;
    sal_error err = { 0 };
    sal_status status =
        found ? sal_run_total_variation(run, 0, o->threads, &variation, &err) : SAL_OK;
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    return o->json ? print_json(run, v, found) : print_text(run, v, found);
}

/* Write the draws to --out, as an array or as sequences. Returns the exit code. */
static int write_draws(const sal_run *run, const cli_sample_outputs *o)
{
    sal_error err = { 0 };
    sal_status status = sal_run_save(run, o->out, o->alphabet, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Write some draws to --out as pictures. Returns the exit code. */
static int write_sheet(const sal_run *run, const cli_sample_outputs *o)
{
    int bytes = 0;
    int64_t chains, draws, V, height = 0, width = 0;
    sal_error err = { 0 };
    const void *codes = sal_run_draws(run, &bytes);
    sal_run_size(run, &chains, &draws, &V);
    if (draws == 0) {
        snprintf(err.message, sizeof err.message, "--out %.300s: there are no draws yet", o->out);
        return cli_fail(SAL_ERR_ARGUMENT, &err);
    }
    int code = cli_sheet_sides(o->out, o->shape, V, &height, &width);
    sal_status status =
        code ? SAL_OK : cli_sheet_codes(o->out, chains * draws, codes, height, width, &err);
    return status == SAL_OK ? code : cli_fail(status, &err);
}

int cli_sample_write(const sal_run *run, sal_model *model, const cli_sample_outputs *o)
{
    vote v = { 0 };
    int code = o->marginals ? write_marginals(run, model, o->marginals) : CLI_OK;
    if (code == CLI_OK && o->out && !cli_sample_streams(o)) {
        code = writes_sheet(o) ? write_sheet(run, o) : write_draws(run, o);
    }
    if (code == CLI_OK && o->best) {
        code = write_best(run, o->best);
    }
    code = code ? code : cast_vote(run, model, o, &v);
    code = code ? code : print_summary(run, o, &v);
    if (code == CLI_OK && o->show) {
        code = show_state(run, model, &v);
    }
    free(v.codes);
    return code;
}

/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"

int cli_codes(const char *path, const sal_array *array, int32_t *codes)
{
    for (int64_t i = 0; codes && i < array->count; i++) {
        double x = array->codes ? array->codes[i] : array->values[i];
        if (!(x >= INT32_MIN && x <= INT32_MAX) || x != floor(x)) {
            return cli_error(SAL_ERR_DATA,
                             "%s: element %lld is %g; expected codes: whole numbers of 32 bits",
                             path, (long long)i, x);
        }
        codes[i] = (int32_t)x;
    }
    return codes ? CLI_OK : cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
}

int cli_columns_from(const char *text, sal_columns_from *columns_from)
{
    *columns_from = !text                    ? SAL_COLUMNS_FIND
                    : strcmp(text, "0") == 0 ? SAL_COLUMNS_FROM_0
                                             : SAL_COLUMNS_FROM_1;
    return !text || strcmp(text, "0") == 0 || strcmp(text, "1") == 0
               ? CLI_OK
               : cli_usage("--columns-from '%s'; expected 0 or 1", text);
}

sal_status cli_array_read(const char *path, sal_columns_from columns_from, sal_array *array,
                          sal_error *err)
{
    const sal_status status = sal_array_read(path, columns_from, array, err);
    if (status == SAL_OK) {
        cli_remark(array->remark, array->warns);
    }
    return status;
}

bool cli_dtype(const char *text, sal_dtype *dtype)
{
    *dtype = 0;
    if (text && strcmp(text, "f32") != 0 && strcmp(text, "f64") != 0) {
        cli_usage("--dtype %s: expected f32 or f64", text);
        return false;
    }
    if (text) {
        *dtype = strcmp(text, "f32") == 0 ? SAL_F32 : SAL_F64;
    }
    return true;
}

int cli_check_joint(const char *command, const sal_model *model)
{
    return !sal_model_is_conditional(model)
               ? CLI_OK
               : cli_error(SAL_ERR_UNSUPPORTED,
                           "%s: %s is a denoising chain: it has a conditional energy f(x, t) of "
                           "each level t, and no f of a state x alone; 'saltus sample' draws from "
                           "it, 'saltus evaluate' bounds its log-likelihood",
                           command, sal_model_name(model));
}

bool cli_is_training(const char *specification)
{
    char formula[CLI_PATH];
    return specification && cli_path(formula, specification, "model.xml") &&
           access(formula, F_OK) == 0;
}

bool cli_find_builtin(const char *specification, sal_builtin_info *info)
{
    const size_t length = strcspn(specification, ":");
    for (int64_t k = 0; sal_builtin_list(k, info); k++) {
        if (strlen(info->name) == length && strncmp(info->name, specification, length) == 0) {
            return true;
        }
    }
    return false;
}

bool cli_is_saved(const char *specification)
{
    struct stat there;
    return cli_is_training(specification) ||
           strncmp(specification, CLI_FORMULA, strlen(CLI_FORMULA)) == 0 ||
           (stat(specification, &there) == 0 && !S_ISDIR(there.st_mode));
}

int64_t cli_levels(const sal_space *space, int64_t variable)
{
    const int64_t states = sal_space_states(space, variable);
    return states > 0 ? states : SAL_COUNT_LEVELS;
}

double *cli_marginals(const sal_space *space, int64_t *entries)
{
    int64_t n = 0;
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        n += cli_levels(space, v);
    }
    if (entries) {
        *entries = n;
    }
    return calloc((size_t)n + 1, sizeof(double));
}

int cli_open(const char *specification, const char *dtype, const char *params, sal_model **model)
{
    sal_error err = { 0 };
    sal_dtype type;
    if (!cli_dtype(dtype, &type)) {
        return CLI_USAGE;
    }
    sal_status status = sal_model_open(specification, type, model, &err);
    if (status == SAL_OK && params) {
        status = sal_model_load_params(*model, params, &err);
        if (status != SAL_OK) {
            sal_model_destroy(*model);
            *model = NULL;
        }
    }
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    cli_remark_model(*model);
    return CLI_OK;
}

/* Fix the sum in the first `size` characters of a text BLOCK=SUM,... Returns the exit code. */
static int fix_sum(sal_model *model, const char *text, size_t size)
{
    const size_t length = strcspn(text, "=");
    sal_error err = { 0 };
    int64_t sum;
    if (length >= size || !cli_parse_int(text + length + 1, size - length - 1, &sum)) {
        return cli_usage("--fix-sum %.*s: expected BLOCK=SUM,..., with whole numbers", (int)size,
                         text);
    }
    char *block = strndup(text, length);
    const sal_status status =
        block ? sal_model_fix_sum(model, block, sum, &err) : (sal_status)SAL_ERR_MEMORY;
    free(block);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

int cli_open_fixed(const char *specification, const char *dtype, const char *params,
                   const char *sums, sal_model **model)
{
    int code = cli_open(specification, dtype, params, model);
    while (code == CLI_OK && sums && *sums) {
        const size_t size = strcspn(sums, ",");
        code = fix_sum(*model, sums, size);
        sums += size + (sums[size] == ',');
    }
    return code;
}

/* ---- progress */

double cli_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_progress cli_progress_begin(void)
{
    return (cli_progress){ .on = isatty(STDERR_FILENO) != 0, .start = cli_clock() };
}

void cli_progress_wait(cli_progress *progress, const char *what)
{
    progress->shown |= progress->on;
    if (progress->on) {
        fprintf(stderr, "\r%s\033[K", what);
        fflush(stderr);
    }
}

/* Seconds until `total` is done at the present rate, or until the limit if that comes first. */
static double seconds_left(const cli_progress *progress, double elapsed, int64_t done,
                           int64_t total)
{
    double left = (double)(total - done) * elapsed / (double)(done - progress->from);
    return progress->limit > 0 ? fmin(left, fmax(progress->limit - elapsed, 0)) : left;
}

void cli_progress_show(cli_progress *progress, const char *what, int64_t done, int64_t total)
{
    double time = cli_clock(), elapsed = time - progress->start;
    progress->from = progress->from < 0 ? done : progress->from;
    if (!progress->on || time - progress->last < 0.2 || done <= progress->from) {
        return;
    }
    progress->last = time;
    progress->shown = true;
    fprintf(stderr, "\r%s %3.0f%%  %.3g/s  %.0f s left   %s\033[K", what,
            100 * (double)done / (double)total, (double)(done - progress->from) / elapsed,
            seconds_left(progress, elapsed, done, total), progress->note);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
    }
}

/* ---- Ctrl-C, kill, batch systems before time is up, and a terminal that closes */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void cli_catch_interrupt(void)
{
    const struct sigaction action = { .sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND };
    struct sigaction before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) { /* no nohup */
        sigaction(SIGHUP, &action, NULL);
    }
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

int cli_sampler(cli_sampler_options *o, const char **sampler, bool replace)
{
    const struct {
        const char *key, *value;
    } settings[] = { { "radius", o->radius },
                     { "block", o->block },
                     { "hops", o->hops },
                     { "balance", o->balance },
                     { "scan", o->scan } };
    const char *name = *sampler;
    const size_t room = sizeof o->specification;
    bool fits = !name || strlen(name) < room;
    snprintf(o->specification, room, "%s", name ? name : "");
    for (size_t k = 0; fits && k < sizeof settings / sizeof *settings; k++) {
        if (!settings[k].value) {
            continue;
        }
        if (!name) {
            return cli_usage("--%s is a setting of a sampler; give --sampler too", settings[k].key);
        }
        if (replace) {
            cli_drop_setting(cli_find_setting(o->specification, settings[k].key));
        }
        size_t used = strlen(o->specification);
        int size =
            snprintf(o->specification + used, room - used, "%c%s=%s",
                     strchr(o->specification, ':') ? ',' : ':', settings[k].key, settings[k].value);
        fits = used + (size_t)size < room;
    }
    *sampler = name ? o->specification : NULL;
    return fits ? CLI_OK : cli_usage("--sampler %s: too long", name);
}

/* ---- results */

sal_status cli_save_pr(double log_z, const char *path, sal_error *err)
{
    const double log10_z = log_z / M_LN10;
    char text[64];
    int size = 0;
    for (int digits = 15; digits <= 17 && (size == 0 || strtod(text + 3, NULL) != log10_z);
         digits++) {
        size = snprintf(text, sizeof text, "PR\n%.*g\n", digits, log10_z);
    }
    return sal_file_write(path, text, size, err);
}

/* SPDX-License-Identifier: MIT */
/* Output of measurements: JSON lines as they come, or a table of all, next to another program's
 * figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/bench/bench.h"
#include "cli/json.h"

/* ---- lines */

/* Print a line as JSON. Returns an exit code. */
static int print_json(const bench_options *o, const bench_line *line)
{
    json_t *object = json_pack("{s:s, s:s, s:I, s:I}", "case", line->bench->name, "sampler",
                               line->sampler, "batch", (json_int_t)bench_batch(line->bench, o),
                               "threads", (json_int_t)o->threads);
    cli_json_number(object, "steps_per_s", line->rate);
    cli_json_number(object, "ms_per_step", 1e3 / line->rate);
    if (line->bound > 0) {
        cli_json_number(object, "bound_ms", 1e3 * line->bound);
        cli_json_number(object, "of_bound", line->bound * line->rate);
    }
    if (line->gradient_ms > 0) {
        cli_json_number(object, "sampling_ms", line->sampling_ms);
        cli_json_number(object, "gradient_ms", line->gradient_ms);
    }
    if (o->peer) {
        cli_json_number(object, "peer_steps_per_s", line->peer > 0 ? line->peer : NAN);
        cli_json_number(object, "ratio", line->peer > 0 ? line->rate / line->peer : NAN);
    }
    return cli_json_print(object);
}

/* Print a line as a row of the table. */
static void print_row(const bench_options *o, const bench_line *line)
{
    char peer[32] = "-", ratio[32] = "-", bound[32] = "-", share[32] = "-";
    if (line->peer > 0) {
        snprintf(peer, sizeof peer, "%.1f", line->peer);
        snprintf(ratio, sizeof ratio, "%.2f", line->rate / line->peer);
    }
    if (line->bound > 0) {
        snprintf(bound, sizeof bound, "%.4f", 1e3 * line->bound);
        snprintf(share, sizeof share, "%.0f%%", 100 * line->bound * line->rate);
    }
    printf("%-14s %-20s %12.1f %12.4f", line->bench->name, line->sampler, line->rate,
           1e3 / line->rate);
    if (o->peer) {
        printf(" %12s %8s", peer, ratio);
    }
    if (o->rates) {
        printf(" %12s %6s", bound, share);
    }
    printf("\n");
}

void bench_print_head(const bench_options *o)
{
    printf("%lld threads; steps of the whole batch a second", (long long)o->threads);
    if (o->rates) {
        printf("; this machine: %.0f Gflop/s in sgemm, %.0f in\nregisters, %.1f GB/s of memory",
               1e-9 * o->rates->products, 1e-9 * o->rates->arithmetic, 1e-9 * o->rates->bytes);
    }
    printf("\n\n%-14s %-20s %12s %12s", "case", "sampler", "steps/s", "ms/step");
    if (o->peer) {
        printf(" %12s %8s", "peer", "ratio");
    }
    if (o->rates) {
        printf(" %12s %6s", "bound ms", "of it");
    }
    printf("\n");
    fflush(stdout);
}

int bench_print_line(const bench_options *o, const bench_line *line)
{
    bench_lines *lines = o->lines;
    if (!lines) {
        return print_json(o, line);
    }
    bench_line *grown = realloc(lines->lines, (size_t)(lines->n + 1) * sizeof *grown);
    if (!grown) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    lines->lines = grown;
    grown[lines->n++] = *line;
    return CLI_OK;
}

int bench_print(const bench_case *c, const bench_options *o, const char *sampler, double rate)
{
    bench_line line = { .bench = c, .rate = rate, .bound = bench_bound(c, o, sampler) };
    snprintf(line.sampler, sizeof line.sampler, "%s", sampler);
    return bench_print_line(o, &line);
}

int bench_print_lines(const bench_options *o, bool json)
{
    int code = CLI_OK;
    for (int64_t k = 0; code == CLI_OK && k < o->lines->n; k++) {
        if (json) {
            code = print_json(o, &o->lines->lines[k]);
        } else {
            print_row(o, &o->lines->lines[k]);
        }
    }
    o->lines->n = 0;
    fflush(stdout);
    return code;
}

/* ---- the peer */

/* Store the peer's figure, a line of JSON, in the lines of that sampler. */
static void note_peer(const char *text, bench_lines *lines)
{
    json_t *object = json_loads(text, 0, NULL);
    const char *sampler = json_string_value(json_object_get(object, "sampler"));
    double rate = json_number_value(json_object_get(object, "steps_per_s"));
    for (int64_t k = 0; sampler && k < lines->n; k++) {
        const bench_line *line = &lines->lines[k];
        const char *name = line->bench->peer_line ? line->bench->peer_line : line->sampler;
        if (strcmp(name, sampler) == 0) {
            lines->lines[k].peer = rate;
        }
    }
    json_decref(object);
}

/* Write the command line of the peer: the user's own command, and only numbers and names of
 * ours. */
static void peer_command(const bench_case *c, const bench_options *o, char *command, size_t room)
{
    size_t used = (size_t)snprintf(command, room,
                                   "%s %s --batch %lld --threads %lld --seconds %g --steps %lld",
                                   o->peer, c->peer_case, (long long)bench_batch(c, o),
                                   (long long)o->threads, o->seconds, (long long)bench_steps(c, o));
    int64_t size = bench_size(c, o), states = bench_states(c, o);
    if (c->size_option && used < room) {
        used += (size_t)snprintf(command + used, room - used, " --%s %lld", c->size_option,
                                 (long long)size);
    }
    if (c->states && used < room) {
        used += (size_t)snprintf(command + used, room - used, " --states %lld", (long long)states);
    }
    const char *list = o->samplers, *before = " --samplers ";
    for (cli_sampler_item item; list && *list && used < room; before = ",") {
        if (cli_next_sampler(&list, &item) != CLI_OK) {
            return;
        }
        int name = (int)strcspn(item.specification, ":"); /* one of ours: no quotes needed */
        used += (size_t)snprintf(command + used, room - used, "%s%.*s", before, name,
                                 item.specification);
    }
}

int bench_ask_peer(const bench_case *c, const bench_options *o)
{
    char command[4096], text[1024];
    if (!o->peer || !c->peer_case) {
        return CLI_OK;
    }
    peer_command(c, o, command, sizeof command);
    fflush(stdout);
    FILE *stream = popen(command, "r"); /* NOLINT(cert-env33-c): the user's own command */
    if (!stream) {
        return cli_usage("--peer %s: cannot be started", o->peer);
    }
    while (fgets(text, sizeof text, stream)) {
        note_peer(text, o->lines);
    }
    int status = pclose(stream);
    if (status != 0) {
        fprintf(stderr, "saltus: the peer failed on %s (exit %d): %s\n", c->name,
                WIFEXITED(status) ? WEXITSTATUS(status) : -1, command);
    }
    return CLI_OK;
}

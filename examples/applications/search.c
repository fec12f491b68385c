/* SPDX-License-Identifier: MIT */
/* Search on a family of random graphs: the best cut, independent set or clique of each graph.
 *
 *     search MODEL [--graphs N] [--first SEED] [--time SECONDS | --coolings N] [--threads N]
 *
 * MODEL is a ready-made model of random graphs without its seed, such as
 * independent-set:nodes=700,most=800,density=0.15. The program makes the graphs of seeds SEED,
 * SEED + 1, ..., searches each of them by annealing, and prints for each the number of nodes, f of
 * the best state before and after decoding, the number of coolings and the seconds; then the mean
 * of the last f's with its standard error. With --coolings the results depend neither on the clock
 * nor on the number of threads; with --time (the default, 20 s) on what the machine does in it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/saltus.h>

typedef struct options {
    const char *model;
    long graphs, first;
    sal_run_options run;
} options;

static int usage(const char *what)
{
    fprintf(stderr,
            "search: %s\nusage: search MODEL [--graphs N] [--first SEED] [--time SECONDS | "
            "--coolings N] [--threads N]\n",
            what);
    return 64;
}

static int read_options(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        const double value = i + 1 < argc ? strtod(argv[i + 1], &end) : 0;
        const bool whole = strcmp(argv[i], "--time") != 0;
        if (strncmp(argv[i], "--", 2) != 0) {
            o->model = argv[i];
            continue;
        }
        if (!end || *end || end == argv[i + 1] || !(value >= 0 && value < 1e9) ||
            (whole && value != floor(value))) {
            return usage("an option wants a number, a whole one but for --time");
        }
        if (strcmp(argv[i], "--graphs") == 0) {
            o->graphs = (long)value;
        } else if (strcmp(argv[i], "--first") == 0) {
            o->first = (long)value;
        } else if (strcmp(argv[i], "--time") == 0) {
            o->run.annealing.seconds = value;
        } else if (strcmp(argv[i], "--coolings") == 0) {
            o->run.annealing.coolings = (int64_t)value;
        } else if (strcmp(argv[i], "--threads") == 0) {
            o->run.threads = (int)value;
        } else {
            return usage("no such option");
        }
        i++;
    }
    if (o->run.annealing.coolings > 0 && o->run.annealing.seconds > 0) {
        return usage("--time and --coolings: give one of them");
    }
    if (o->run.annealing.coolings == 0 && o->run.annealing.seconds == 0) {
        o->run.annealing.seconds = 20;
    }
    return o->model ? 0 : usage("expected MODEL");
}

/* Search one graph; f of the best state, decoded where the model can do so. */
static sal_status search(const options *o, long seed, double *f, sal_error *err)
{
    char specification[512];
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_summary s;
    snprintf(specification, sizeof specification, "%s%sseed=%ld", o->model,
             strchr(o->model, ':') ? "," : ":", seed);
    sal_status status = sal_model_open(specification, 0, &model, err);
    status = status ? status : sal_sample(model, &o->run, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK && !(s.best_log_prob > -INFINITY)) {
        snprintf(err->message, sizeof err->message, "seed %ld: no state in that time", seed);
        status = SAL_ERR_ARGUMENT;
    }
    if (status == SAL_OK) {
        *f = s.decoded ? s.decoded_log_prob : s.best_log_prob;
        const double seconds = s.coolings > 1 ? s.search_seconds : s.seconds + s.warmup_seconds;
        printf("seed %-6ld nodes %-7lld best %-8.6g decoded %-8.6g coolings %lld", seed,
               (long long)s.variables, s.best_log_prob, *f, (long long)s.coolings);
        if (o->run.annealing.seconds > 0) { /* else all that is printed is reproducible */
            printf(" seconds %.1f", seconds);
        }
        putchar('\n');
        fflush(stdout);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .graphs = 10, .first = 1, .run.annealing.on = true };
    double sum = 0, squares = 0;
    int code = read_options(argc, argv, &o);
    if (code) {
        return code;
    }
    for (long k = 0; k < o.graphs; k++) {
        double f;
        sal_error err = { 0 };
        if (search(&o, o.first + k, &f, &err) != SAL_OK) {
            fprintf(stderr, "search: %s\n", err.message);
            return 65;
        }
        sum += f;
        squares += f * f;
    }
    const double n = (double)o.graphs, mean = sum / n;
    if (n > 1) {
        printf("mean of %ld graphs: %.3f, standard error %.3f\n", o.graphs, mean,
               sqrt(fmax(0, squares / n - mean * mean) / (n - 1)));
    }
    return 0;
}

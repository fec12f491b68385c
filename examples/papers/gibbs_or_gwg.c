/* Is a step guided by the gradient worth its price? The comparison of van den Hoek's thesis (2022,
 * sections 4.2 and 4.3): Gibbs against Gibbs with gradients (gwg) on lattices of N x N sites with
 * free borders, where an edge between neighbours counts once,
 *
 *     Ising  f(s) = J sum s_i s_j, s_i = -1 or +1      Potts  f(s) = J sum [s_i = s_j], q labels
 *
 * and a draw is one step, which moves one site at most. Of each sampler it prints the effective
 * samples in 1000 draws, the time of a draw, and their quotient, the time of an effective sample:
 * processor time of one thread, with 16 chains side by side.
 *
 *     gibbs_or_gwg          some of the cases, briefly
 *     gibbs_or_gwg --full   all of them, some minutes */
#include <string.h>
#include <time.h>
#include <saltus/saltus.h>

enum { CHAINS = 16 };

static const char *const samplers[] = { "gibbs:scan=random", "gibbs", "gwg" };
enum { RANDOM_SCAN, SYSTEMATIC_SCAN, GWG, SAMPLERS };

typedef struct figures {
    double ess;              /* in 1000 draws of a chain */
    double draw, per_sample; /* microseconds */
    double rhat;
} figures;

/* Draws are kept four times in the time that a scan of all sites takes: what lies between is not
 * worth looking at. */
static sal_status measure(sal_model *model, int sites, const char *sampler, int draws, figures *out,
                          sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_options o = { .sampler = sampler, .chains = CHAINS, .draws = draws, .threads = 1 };
    o.thin = sites < 8 ? 1 : sites / 4;
    o.warmup = draws / 4 * o.thin;
    clock_t start = clock();
    sal_status status = sal_sample(model, &o, &run, err);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        double steps = (double)CHAINS * (double)(o.warmup + o.draws * o.thin);
        double kept = (double)CHAINS * (double)(o.draws * o.thin);
        out->ess = 1000 * s.ess_total / kept;
        out->draw = 1e6 * seconds / steps;
        out->per_sample = 1000 * out->draw / out->ess;
        out->rhat = s.rhat_max;
    }
    sal_run_destroy(run);
    return status;
}

/* What only the first run of a process pays for, before anything is measured. */
static sal_status begin(sal_error *err)
{
    figures unused;
    sal_model *model = NULL;
    sal_status status = sal_model_builtin("ising:side=2", 0, &model, err);
    status = status ? status : measure(model, 4, samplers[GWG], 100, &unused, err);
    sal_model_destroy(model);
    return status;
}

/* One line of the table. A star: the chains do not agree, so the sampler has not seen the whole
 * distribution and its effective samples count within a part of it. */
static sal_status compare(const char *specification, int sites, int draws, sal_error *err)
{
    figures f[SAMPLERS] = { 0 };
    sal_model *model = NULL;
    sal_status status = sal_model_builtin(specification, 0, &model, err);
    for (int k = 0; k < SAMPLERS && status == SAL_OK; k++) {
        status = measure(model, sites, samplers[k], draws, &f[k], err);
    }
    for (int k = 0; k < SAMPLERS && status == SAL_OK; k++) {
        printf("  |%8.2f%c %6.3f %8.2f", f[k].ess, f[k].rhat > 1.1 ? '*' : ' ', f[k].draw,
               f[k].per_sample);
    }
    if (status == SAL_OK) {
        printf("  |%6.2f %6.2f\n", f[RANDOM_SCAN].per_sample / f[GWG].per_sample,
               f[SYSTEMATIC_SCAN].per_sample / f[GWG].per_sample);
    }
    fflush(stdout);
    sal_model_destroy(model);
    return status;
}

static void print_head(const char *title)
{
    printf("\n%s\n%14s", title, "");
    printf("  |%-25s  |%-25s  |%-25s  | gwg faster than\n", " Gibbs, random site",
           " Gibbs, in turn", " gwg");
    printf("  q    N     J");
    for (int k = 0; k < SAMPLERS; k++) {
        printf("  |%9s %6s %8s", "ESS/1000", "us", "us/ESS");
    }
    printf("  |random in turn\n");
}

static sal_status ising(const int *sides, int draws, sal_error *err)
{
    static const double J[] = { 0.1, 0.5, 0.9 };
    sal_status status = SAL_OK;
    print_head("Ising");
    for (int j = 0; j < 3; j++) {
        for (const int *side = sides; *side && status == SAL_OK; side++) {
            char text[80]; /* theta counts an edge twice */
            snprintf(text, sizeof text, "ising:cyclic=0,side=%d,theta=%g", *side, J[j] / 2);
            printf("  2%5d%6.1f", *side, J[j]);
            status = compare(text, *side * *side, draws, err);
        }
    }
    return status;
}

static sal_status potts(const int *labels, const int *sides, double J, int draws, sal_error *err)
{
    sal_status status = SAL_OK;
    print_head("Potts");
    for (const int *side = sides; *side && status == SAL_OK; side++) {
        for (const int *q = labels; *q && status == SAL_OK; q++) {
            char text[80];
            snprintf(text, sizeof text, "potts:cyclic=0,side=%d,states=%d,theta=%g", *side, *q,
                     J / 2);
            printf("%3d%5d%6.1f", *q, *side, J);
            status = compare(text, *side * *side, draws, err);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static const int few_sides[] = { 2, 5, 10, 0 }, few_labels[] = { 4, 7, 10, 0 };
    static const int few_potts[] = { 5, 0 }, potts_sides[] = { 2, 5, 10, 0 };
    static const int sides[] = { 2, 5, 10, 15, 20, 0 },
                     labels[] = { 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 0 };
    bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
    sal_error err = { 0 };
    sal_status status = begin(&err);
    if (status == SAL_OK) {
        status = ising(full ? sides : few_sides, full ? 4000 : 400, &err);
    }
    for (int k = full ? 0 : 1; k < (full ? 3 : 2) && status == SAL_OK; k++) {
        static const double J[] = { 0.1, 0.5, 0.9 };
        status = potts(full ? labels : few_labels, full ? potts_sides : few_potts, J[k],
                       full ? 500 : 400, &err);
    }
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    return status != SAL_OK;
}

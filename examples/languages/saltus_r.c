/* SPDX-License-Identifier: MIT */
/* Saltus as R's .C can call it: arguments are pointers to R's vectors, and nothing is returned. A
 * handle is a raw vector of 8 bytes, which R keeps and does not look into. A failure becomes an
 * error of R, so nothing may be left to free when `check` is called. */
#include <string.h>
#include <R.h>
#include <saltus/saltus.h>

static void check(sal_status status, const sal_error *err)
{
    if (status != SAL_OK) {
        Rf_error("%s", err->message);
    }
}

void saltus_open(char **specification, sal_model **model)
{
    sal_error err = { 0 };
    check(sal_model_open(*specification, SAL_F64, model, &err), &err);
}

void saltus_sample(sal_model **model, char **options, sal_run **run)
{
    sal_error err = { 0 };
    sal_flat_options *chosen = NULL;
    check(sal_flat_options_create(SAL_OPTIONS_RUN, *options, &chosen, &err), &err);
    sal_status status = sal_flat_sample(*model, chosen, true, NULL, run, &err);
    sal_flat_options_destroy(chosen);
    check(status, &err);
}

/* size [3]: chains, draws, variables. R has no whole numbers of 64 bits, but doubles. */
void saltus_size(sal_run **run, double *size)
{
    int64_t n[3];
    sal_run_size(*run, &n[0], &n[1], &n[2]);
    for (int k = 0; k < 3; k++) {
        size[k] = (double)n[k];
    }
}

/* codes [n]: all draws, where n is the product of the sizes. */
void saltus_draws(sal_run **run, double *n, int *codes)
{
    int bytes;
    const void *kept = sal_run_draws(*run, &bytes);
    for (int64_t k = 0; k < (int64_t)*n; k++) {
        codes[k] = bytes == 1 ? ((const uint8_t *)kept)[k] : ((const int32_t *)kept)[k];
    }
}

/* The text goes to memory that R frees. */
void saltus_summary(sal_run **run, char **json)
{
    sal_error err = { 0 };
    char *text = NULL;
    check(sal_flat_run_summary(*run, &text, &err), &err);
    *json = strcpy(R_alloc(strlen(text) + 1, 1), text);
    sal_free(text);
}

/* marginals: the exact probabilities of all states of all variables. */
void saltus_exact(sal_model **model, double *marginals)
{
    sal_error err = { 0 };
    sal_exact answer = { 0 };
    check(sal_model_exact(*model, NULL, &answer, marginals, NULL, NULL, &err), &err);
}

void saltus_free(sal_run **run, sal_model **model)
{
    sal_run_destroy(*run);
    sal_model_destroy(*model);
}

/* SPDX-License-Identifier: MIT */
/* What the parts of saltus compare share. */
#ifndef COMPARE_H
#define COMPARE_H

#include "cli/cli.h"

/* Exact answers to compare with. */
typedef struct compare_reference {
    char source[256];  /* name of the exact method or of the file; "" without reference */
    double log_z;      /* NaN unknown */
    double *marginals; /* [R], or NULL */
    double *pairs;     /* [R x R], or NULL */
} compare_reference;

/* Find a reference for a model, which may be clamped: an exact method; then `file`, if it is given,
 * in place of its marginals. Without both, a file MODEL.mar.json or MODEL.uai.MAR beside MODEL.uai.
 * Such a file is ignored if it does not fit the evidence; a given file is refused then. Returns the
 * exit code. */
int compare_find_reference(const sal_model *model, const char *specification, const char *file,
                           const sal_exact_options *exact, compare_reference *reference);
void compare_free_reference(compare_reference *reference);

/* The error of the marginals of the first draws of each chain, for growing numbers of draws. */
#define COMPARE_TRACE 40
typedef struct compare_trace {
    int64_t n; /* 0: no exact answers, or draws not kept */
    int64_t draws[COMPARE_TRACE];
    double seconds[COMPARE_TRACE], error[COMPARE_TRACE];
} compare_trace;

/* Set the trace of a run that kept its draws (compare_trace.c); draws are assumed to be evenly
 * spaced in time. */
sal_status compare_trace_errors(const sal_run *run, const sal_model *model, const double *exact,
                                compare_trace *trace, sal_error *err);

/* The results of one sampler. */
typedef struct compare_row {
    char sampler[256];           /* as asked for */
    bool exact;                  /* leaves the target invariant */
    char reason[SAL_ERROR_SIZE]; /* why it did not run; "" if it did */
    bool unsteady; /* runs differ by more than a tenth; the rates are of the fastest run */
    sal_run_summary summary;
    sal_run_errors errors;       /* NaN where unknown */
    sal_run_variation variation; /* NaN where unknown */
    compare_trace trace;
    sal_meeting meeting; /* NaN where unknown */
} compare_row;

typedef struct compare_report {
    const char *model;
    int64_t variables, n;
    const compare_row *rows;
    const compare_reference *reference;
    const sal_run_options *options;
    double time; /* seconds for each sampler; 0: equal steps */
    bool check_exact;
} compare_report;

int compare_print_json(const compare_report *report);
int compare_print_table(const compare_report *report);

#endif

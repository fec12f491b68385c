/* SPDX-License-Identifier: MIT */
/* Potts parameters as adabmDCA and bmDCA write them: "J i j a b value" for i < j and "h i a value",
 * sites from 0, states as letters or as numbers. adabmDCA writes active couplings only. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/potts/potts_content.h"
#include "models/alphabet.h"

#define LETTER 0x10000 /* added to a state that is a letter: its character */

typedef struct entry {
    bool coupling;
    int64_t i, j; /* sites; j = i for a field */
    int64_t a, b; /* states */
    double value;
} entry;

/* ---- reading */

/* Read a state: a letter of the given alphabet, or of any if none is given, '-' or a number. */
static int64_t read_state(sali_scan *line, const char *given)
{
    sali_scan ahead = *line;
    ahead.err = NULL;
    sali_token token = sali_scan_token(&ahead);
    const char c = token.size == 1 ? token.text[0] : '\0';
    if (c == '-' || (c >= 'A' && c <= 'Z') || (c && strchr(given, c))) {
        sali_scan_token(line);
        return LETTER + c;
    }
    return sali_scan_int(line,
                         given[0] ? "a state (a letter of the alphabet or a number from 0)"
                                  : "a state (an upper-case letter, '-' or a number from 0)",
                         0, SALI_POTTS_MOST - 1);
}

static void read_entry(sali_scan *line, const char *given, entry *e)
{
    sali_token kind = sali_scan_token(line);
    e->coupling = kind.size == 1 && kind.text[0] == 'J';
    if (!e->coupling && !(kind.size == 1 && kind.text[0] == 'h')) {
        sali_scan_expected(line, &kind, "'J i j a b value' or 'h i a value'");
        return;
    }
    e->i = e->j = sali_scan_int(line, "a site, from 0", 0, SALI_POTTS_MOST - 1);
    if (e->coupling) {
        e->j = sali_scan_int(line, "a site, from 0", 0, SALI_POTTS_MOST - 1);
    }
    e->a = read_state(line, given);
    e->b = e->coupling ? read_state(line, given) : e->a;
    e->value = sali_scan_double(line, "a value");
    sali_scan_end(line);
    if (e->coupling && e->i >= e->j) {
        sali_scan_fail(line, line->line,
                       "a coupling of sites %lld and %lld; expected the lower one first",
                       (long long)e->i, (long long)e->j);
    }
}

/* What all lines together say. */
typedef struct extent {
    int64_t entries;       /* lines */
    int64_t sites, states; /* states: of numbers */
    bool numbers;
    bool letter[128];
} extent;

static void extend(extent *all, const entry *e)
{
    const int64_t states[] = { e->a, e->b };
    all->entries++;
    all->sites = e->j + 1 > all->sites ? e->j + 1 : all->sites;
    for (int k = 0; k < 2; k++) {
        if (states[k] >= LETTER) {
            all->letter[states[k] - LETTER] = true;
        } else {
            all->numbers = true;
            all->states = states[k] + 1 > all->states ? states[k] + 1 : all->states;
        }
    }
}

static extent measure(sali_scan scan, sali_scan *failed)
{
    extent all = { 0 };
    sali_scan line = { 0 };
    entry e = { 0 };
    while (sali_scan_line(&scan, &line)) {
        if (sali_scan_more(&line)) {
            read_entry(&line, sali_potts_given(&scan), &e);
            if (line.status == SAL_OK) {
                extend(&all, &e);
            }
        }
    }
    failed->status = scan.status;
    return all;
}

/* The letters of an alphabet that has all of a file, without the gap if just all others occur;
 * NULL: the file has other letters. */
static const char *fit_letters(const char *letters, const extent *all)
{
    int64_t occur = 0;
    for (int c = 1; c < 128; c++) {
        if (all->letter[c] && !strchr(letters, c)) {
            return NULL;
        }
        occur += all->letter[c];
    }
    return letters + (!all->letter['-'] && occur == (int64_t)strlen(letters) - 1);
}

/* The letters that the states are: the given ones, or those of RNA or DNA if they have all that
 * occur, else of proteins. NULL for states that are numbers, if no letters are given. Fails for
 * other letters, and if states are numbers too. */
static const char *letters_of(sali_scan *scan, const extent *all)
{
    const char *const tried[] = { sali_rna, sali_dna, sali_protein };
    const char *given = sali_potts_given(scan), *letters = NULL;
    const bool any = memchr(all->letter, true, sizeof all->letter);
    if (any && all->numbers) {
        sali_scan_refuse(scan, "some states are letters, others are numbers");
    } else if (given[0]) {
        letters = fit_letters(given, all) && all->states <= (int64_t)strlen(given) ? given : NULL;
        if (!letters) {
            sali_scan_refuse(scan, "it has states that are not among the letters %s", given);
        }
    } else if (any) {
        for (int k = 0; !letters && k < 3; k++) {
            letters = fit_letters(tried[k], all);
        }
        if (!letters) {
            sali_scan_refuse(scan,
                             "the letters are those of no alphabet with a name: proteins (%s), RNA "
                             "(%s), DNA (%s). Give them in the order of their codes: "
                             "potts-parameters:alphabet=-ABC,file=PATH",
                             sali_protein, sali_rna, sali_dna);
        }
    }
    return letters;
}

/* Store an entry whose states are codes. Until all is read, the lower half of J, and `known`, say
 * which numbers the file has given. */
static void store(sali_scan *line, const entry *e, sali_potts *p, bool *known)
{
    const int64_t N = p->sites * p->states, k = e->i * p->states + e->a,
                  l = e->j * p->states + e->b;
    double *given = &p->J[l * N + k];
    if (e->coupling ? *given != 0 : known[k]) {
        sali_scan_fail(line, line->line, "this %s is given twice",
                       e->coupling ? "coupling" : "field");
        return;
    }
    if (e->coupling) {
        *given = 1;
        p->J[k * N + l] = e->value;
    } else {
        known[k] = true;
        p->h[k] = e->value;
    }
}

/* Say what was decided about states that are numbers, and which fields are missing. */
static void remark(sali_scan *scan, const extent *all, const bool *known, sali_content *out)
{
    const int64_t q = out->potts.states, N = out->potts.sites * q;
    int64_t missing = 0, first = 0;
    for (int64_t k = 0; k < N; k++) {
        missing += !known[k];
        first += !known[k] && k < q;
    }
    const char *letters = sali_alphabet_fits(q, "");
    if (all->numbers && !out->potts.alphabet[0] && letters && scan->status == SAL_OK) {
        scan->status = sali_remark_add(&out->remark, true, scan->err,
                                       "its %lld states are numbers, and taken for the letters %s",
                                       (long long)q, letters);
    }
    if (missing > 0 && scan->status == SAL_OK) {
        scan->status = sali_remark_add(
            &out->remark, true, scan->err, "%lld of %lld fields are not given, and are 0%s",
            (long long)missing, (long long)N,
            first == q && missing == q ? "; site 0 has none: sites count from 0, not from 1" : "");
    }
}

/* Refuse a file with far fewer lines than there are fields, before memory for J is taken: J is
 * dense, and one wrong number of a site makes it very large. */
static void check_lines(sali_scan *scan, const extent *all, int64_t states)
{
    const int64_t N = all->sites * states;
    if (scan->status == SAL_OK && N > SALI_POTTS_SMALL && N <= SALI_POTTS_MOST &&
        all->entries < N / 2) {
        sali_scan_refuse(scan,
                         "%lld lines, the last site %lld of %lld states: the couplings would take "
                         "%.1f GB, for %lld fields. Is the number of a site wrong? If it is right, "
                         "give the fields, too, with 0 where there is none",
                         (long long)all->entries, (long long)(all->sites - 1), (long long)states,
                         (double)(N * N) * sizeof(double) / 1e9, (long long)N);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    extent all = measure(*scan, scan);
    if (scan->status == SAL_OK && all.sites == 0) {
        sali_scan_refuse(scan, "no lines; expected 'J i j a b value' and 'h i a value'");
    }
    const char *letters = scan->status == SAL_OK ? letters_of(scan, &all) : NULL;
    const int64_t states = letters ? (int64_t)strlen(letters) : all.states;
    bool *known = NULL;
    snprintf(out->potts.alphabet, sizeof out->potts.alphabet, "%s", letters ? letters : "");
    check_lines(scan, &all, states);
    if (scan->status == SAL_OK && sali_potts_allocate(scan, &out->potts, all.sites, states)) {
        known = SALI_SCAN_ARRAY(scan, bool, all.sites *states);
    }
    sali_scan line = { 0 };
    while (known && sali_scan_line(scan, &line)) {
        entry e = { 0 };
        if (sali_scan_more(&line)) {
            read_entry(&line, sali_potts_given(scan), &e);
            if (line.status != SAL_OK) {
                continue;
            }
            e.a = e.a >= LETTER ? strchr(letters, (int)(e.a - LETTER)) - letters : e.a;
            e.b = e.b >= LETTER ? strchr(letters, (int)(e.b - LETTER)) - letters : e.b;
            store(&line, &e, &out->potts, known);
        }
    }
    if (scan->status == SAL_OK) {
        remark(scan, &all, known, out);
        sali_potts_mirror(&out->potts);
    }
    sali_free(known);
}

static bool recognise(sali_scan *scan)
{
    sali_scan line = { 0 };
    entry e = { 0 };
    if (!sali_scan_line(scan, &line)) {
        return false;
    }
    line.err = NULL;
    read_entry(&line, "abcdefghijklmnopqrstuvwxyz", &e); /* of alphabets that will be given */
    return line.status == SAL_OK;
}

/* ---- writing */

static void put_state(sali_text_output *w, const char *letters, int64_t a)
{
    if (letters) {
        sali_put(w, " %c", letters[a]);
    } else {
        sali_put(w, " %lld", (long long)a);
    }
}

/* Write all couplings that are not 0, and all fields; states as letters where an alphabet has as
 * many. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_potts *p = &content->potts;
    const int64_t q = p->states, N = p->sites * q;
    const char *letters = sali_alphabet_fits(q, p->alphabet);
    for (int64_t k = 0; k < N; k++) {
        for (int64_t l = (k / q + 1) * q; l < N && w->status == SAL_OK; l++) {
            if (p->J[k * N + l] != 0) {
                sali_put(w, "J %lld %lld", (long long)(k / q), (long long)(l / q));
                put_state(w, letters, k % q);
                put_state(w, letters, l % q);
                sali_put(w, " %g\n", p->J[k * N + l]);
            }
        }
    }
    for (int64_t k = 0; k < N && w->status == SAL_OK; k++) {
        sali_put(w, "h %lld", (long long)(k / q));
        put_state(w, letters, k % q);
        sali_put(w, " %g\n", p->h[k]);
    }
}

const sali_format sali_format_adabmdca = {
    .name = "adabmdca",
    .doc = "Potts parameters of adabmDCA and bmDCA: \"J i j a b value\", \"h i a value\"",
    .suffixes = { ".dat" },
    .content = SALI_CONTENT_POTTS,
    .model = "potts-parameters",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};

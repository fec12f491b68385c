/* SPDX-License-Identifier: MIT */
/* Potts parameters of proteins as CCMpred writes them (-r): a line of 20 fields for each site, then
 * for each pair of sites "# i j" and 21 lines of 21 couplings, sites from 0. */
#include <string.h>

#include "io/potts/potts_content.h"
#include "models/alphabet.h"

#define Q 21

/* The order of CCMpred's states. The gap has couplings, and no field. */
static const char letters[] = "ARNDCQEGHILKMFPSTWYV-";

/* ---- reading */

/* Whether the line begins with this text. */
static bool begins(const sali_scan *line, const char *text)
{
    const size_t n = strlen(text);
    return (size_t)(line->end - line->next) >= n && memcmp(line->next, text, n) == 0;
}

/* The number of lines of fields, before the first pair. */
static int64_t count_sites(sali_scan scan)
{
    sali_scan line = { 0 };
    int64_t sites = 0;
    scan.err = NULL;
    while (sali_scan_line(&scan, &line) && !begins(&line, "#")) {
        sites += sali_scan_more(&line);
    }
    return sites;
}

/* The next line that is not empty. Fails at the end. */
static bool next_line(sali_scan *scan, sali_scan *line, const char *what)
{
    while (sali_scan_line(scan, line)) {
        if (sali_scan_more(line)) {
            return true;
        }
    }
    return sali_scan_fail(scan, scan->line, "expected %s, found the end of the file", what), false;
}

/* Read the pair (i, j) after its '#', and its block. */
static void read_block(sali_scan *scan, sali_scan *line, const int64_t *order, sali_potts *p)
{
    const int64_t N = p->sites * Q;
    line->next++;
    const int64_t i = sali_scan_int(line, "a site, from 0", 0, p->sites - 1),
                  j = sali_scan_int(line, "a site, from 0", 0, p->sites - 1);
    sali_scan_end(line);
    if (line->status == SAL_OK && (i >= j || p->J[j * Q * N + i * Q] != 0)) {
        sali_scan_fail(line, line->line,
                       i >= j ? "sites %lld and %lld; expected the lower one first"
                              : "the couplings of sites %lld and %lld are given twice",
                       (long long)i, (long long)j);
    }
    for (int a = 0; a < Q && line->status == SAL_OK && next_line(scan, line, "21 couplings"); a++) {
        for (int b = 0; b < Q; b++) {
            p->J[(i * Q + order[a]) * N + j * Q + order[b]] = sali_scan_double(line, "a coupling");
        }
        sali_scan_end(line);
    }
    if (line->status == SAL_OK) {
        p->J[j * Q * N + i * Q] = 1; /* given, until the blocks are mirrored */
    }
}

/* Refuse a file that is too short for its pairs of sites, before memory for J is taken: a coupling
 * has a digit and a blank at least. */
static void check_size(sali_scan *scan, int64_t sites)
{
    const int64_t pairs = sites * (sites - 1) / 2, size = scan->end - scan->begin;
    const bool large = sites > SALI_POTTS_SMALL / Q && sites <= SALI_POTTS_MOST / Q;
    if (large && size / (2 * Q * Q) < pairs) {
        sali_scan_refuse(scan,
                         "%lld bytes are too few for the couplings of all pairs of its %lld sites: "
                         "the file is cut",
                         (long long)size, (long long)sites);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_potts *p = &out->potts;
    sali_scan line = { 0 };
    int64_t order[Q];
    const int64_t sites = count_sites(*scan);
    sali_potts_order(scan, letters, Q, order, p->alphabet);
    check_size(scan, sites);
    if (scan->status != SAL_OK || !sali_potts_allocate(scan, p, sites, Q)) {
        return;
    }
    for (int64_t i = 0; i < p->sites && next_line(scan, &line, "20 fields"); i++) {
        for (int a = 0; a < Q - 1; a++) {
            p->h[i * Q + order[a]] = sali_scan_double(&line, "a field");
        }
        sali_scan_end(&line);
    }
    int64_t pairs = 0;
    while (sali_scan_line(scan, &line)) {
        if (begins(&line, "#>")) { /* what the program says of its run */
        } else if (begins(&line, "#")) {
            read_block(scan, &line, order, p);
            pairs++;
        } else if (sali_scan_more(&line)) {
            sali_scan_fail(&line, line.line, "expected '# i j' before more couplings");
        }
    }
    if (scan->status == SAL_OK && pairs != p->sites * (p->sites - 1) / 2) {
        sali_scan_refuse(scan, "%lld pairs of %lld sites; expected all %lld: the file is cut",
                         (long long)pairs, (long long)p->sites,
                         (long long)(p->sites * (p->sites - 1) / 2));
    }
    if (scan->status == SAL_OK) {
        sali_potts_mirror(p);
    }
}

/* Whether the first line has 20 numbers, and a pair of sites 0 and 1 follows. */
static bool recognise(sali_scan *scan)
{
    sali_scan line = { 0 };
    if (!next_line(scan, &line, "20 fields") || sali_scan_words(&line) != Q - 1) {
        return false;
    }
    while (sali_scan_line(scan, &line) && !begins(&line, "#")) {
    }
    return begins(&line, "# 0 1");
}

/* ---- writing */

/* Write the parameters; h_i loses the field of the gap, which changes f by a constant. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_potts *p = &content->potts;
    const int64_t N = p->sites * Q;
    int64_t order[Q];
    for (int a = 0; a < Q; a++) {
        order[a] = strchr(sali_protein, letters[a]) - sali_protein;
    }
    if (p->states != Q || (p->alphabet[0] && strcmp(p->alphabet, sali_protein) != 0)) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "%lld states%s%s; this format is for proteins, with %d (adabmdca has any "
                       "letters)",
                       (long long)p->states, p->alphabet[0] ? ", " : "", p->alphabet, Q);
    }
    for (int64_t i = 0; i < p->sites && w->status == SAL_OK; i++) {
        for (int a = 0; a < Q - 1; a++) {
            sali_put(w, "%g%c", p->h[i * Q + order[a]] - p->h[i * Q], a == Q - 2 ? '\n' : '\t');
        }
    }
    for (int64_t i = 0; i < p->sites; i++) {
        for (int64_t j = i + 1; j < p->sites && w->status == SAL_OK; j++) {
            sali_put(w, "# %lld %lld\n", (long long)i, (long long)j);
            for (int k = 0; k < Q * Q; k++) {
                sali_put(w, "%g%c", p->J[(i * Q + order[k / Q]) * N + j * Q + order[k % Q]],
                         k % Q == Q - 1 ? '\n' : '\t');
            }
        }
    }
}

const sali_format sali_format_ccmpred = {
    .name = "ccmpred",
    .doc = "Potts parameters of CCMpred (-r): lines of 20 fields, then \"# i j\" and 21 x 21 "
           "couplings",
    .suffixes = { ".raw" },
    .content = SALI_CONTENT_POTTS,
    .model = "potts-parameters",
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};

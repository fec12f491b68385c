/* SPDX-License-Identifier: MIT */
/* Which sequences of an alignment are used, and remarks on them for the user. */
#include "models/zoo/alignment_rows.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"

static bool has_gap(const sali_alignment *a)
{
    return a->alphabet[0] == '-';
}

/* Whether the alphabet is that of proteins, and all letters may be those of DNA or RNA. */
static bool are_bases(const sali_alignment *a)
{
    const int64_t n = a->letters ? a->sequences * a->length : 0;
    bool bases = n > 0 && strcmp(a->alphabet + has_gap(a), sali_protein + 1) == 0, any = false;
    for (int64_t i = 0; bases && i < n; i++) {
        bases = strchr("ACGTUN-", a->letters[i]);
        any = any || a->letters[i] != '-';
    }
    return bases && any;
}

/* How many letters are not in the alphabet, and how many sequences have such letters. */
typedef struct unknown_letters {
    int64_t letters, sequences;
    int64_t first; /* the place of the first one, if there is one */
} unknown_letters;

/* What was found in the sequences, and done about it. */
typedef struct findings {
    unknown_letters unknown;
    int64_t repeated;    /* sequences that equal an earlier one, and are left out */
    bool without, bases; /* sequences with unknown letters are left out; bases for amino acids */
} findings;

/* Count the letters that the alphabet lacks, and mark their sequences in has [sequences]. */
static unknown_letters find_unknown(const sali_alignment *a, bool *has)
{
    unknown_letters found = { 0 };
    int8_t codes[256];
    sali_alphabet_codes(a->alphabet, codes);
    for (int64_t r = 0; a->letters && r < a->sequences; r++) {
        int64_t n = 0;
        for (int64_t i = r * a->length; i < (r + 1) * a->length; i++) {
            if (codes[(unsigned char)a->letters[i]] < 0) {
                found.first = found.letters + n++ == 0 ? i : found.first;
            }
        }
        has[r] = n > 0;
        found.letters += n;
        found.sequences += n > 0;
    }
    return found;
}

/* Write the first characters of the name of a sequence, which a file may give control characters:
 * '?' in their place, as terminals obey them. */
static void show_name(const char *name, char shown[101])
{
    snprintf(shown, 101, "%s", name);
    for (char *c = shown; *c; c++) {
        *c = (*c > 0 && *c < ' ') || *c == 127 ? '?' : *c;
    }
}

/* SAL_ERR_DATA that names the first letter that the alphabet lacks, and its sequence. */
static sal_status fail_unknown(const sali_alignment *a, const unknown_letters *unknown,
                               sal_error *err)
{
    const int64_t row = unknown->first / a->length, site = unknown->first % a->length;
    const char letter = a->letters[unknown->first];
    char name[101];
    show_name(a->names ? a->names[row] : "", name);
    return sali_fail(err, SAL_ERR_DATA,
                     "sequence %lld%s%s%s has %s%c%s at site %lld, which the alphabet %s lacks "
                     "(%lld of %lld sequences have such letters)",
                     (long long)(row + 1), name[0] ? " ('" : "", name, name[0] ? "')" : "",
                     letter == '-' ? "the gap '" : "the letter '", letter, "'",
                     (long long)(site + 1), a->alphabet, (long long)unknown->sequences,
                     (long long)a->sequences);
}

static uint64_t hash_row(const uint8_t *codes, int64_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < length; i++) {
        h = (h ^ codes[i]) * UINT64_C(0x100000001b3);
    }
    return h ^ h >> 32;
}

/* Mark in drop [sequences] the sequences that equal an earlier sequence that is not marked, and add
 * their number to *dropped. Cost: linear, by a hash table of the sequences. */
static sal_status mark_repeated(const sali_alignment *a, bool *drop, int64_t *dropped,
                                sal_error *err)
{
    int64_t slots = 4;
    while (slots < 2 * a->sequences) {
        slots *= 2;
    }
    int64_t *first = SALI_NEW_ARRAY(int64_t, slots); /* a sequence's number from 1; 0: free */
    for (int64_t r = 0; first && r < a->sequences; r++) {
        const uint8_t *row = a->codes + r * a->length;
        int64_t at = (int64_t)(hash_row(row, a->length) & (uint64_t)(slots - 1));
        if (drop[r]) {
            continue;
        }
        while (first[at] &&
               memcmp(a->codes + (first[at] - 1) * a->length, row, (size_t)a->length) != 0) {
            at = (at + 1) & (slots - 1);
        }
        drop[r] = first[at] > 0;
        *dropped += drop[r];
        first[at] = drop[r] ? first[at] : r + 1;
    }
    sal_status status = first ? SAL_OK : sali_fail_memory(err);
    sali_free(first);
    return status;
}

/* Close the gaps that dropped sequences leave in a->codes. Letters and names still have the rows of
 * the file, and stay with their owner. */
static void drop_rows(sali_alignment *a, const bool *drop)
{
    int64_t kept = 0;
    for (int64_t r = 0; r < a->sequences; r++) {
        if (!drop[r]) {
            memmove(a->codes + kept++ * a->length, a->codes + r * a->length, (size_t)a->length);
        }
    }
    a->sequences = kept;
    a->letters = NULL;
    a->names = NULL;
}

/* Append how the reader decided about lower-case letters and marked columns, if it had to. */
static sal_status remark_case(const sali_alignment *a, sali_remark *remark, sal_error *err)
{
    if (a->letter_case == SALI_CASE_LOWER) {
        return sali_remark_add(remark, true, err,
                               "no letter is in upper case, so lower-case letters are aligned and "
                               "not insertions");
    }
    if (a->letter_case == SALI_CASE_MIXED) {
        return sali_remark_add(remark, true, err,
                               "upper and lower case are read alike, because the rows have unequal "
                               "numbers of upper-case letters and gaps, and one length with lower "
                               "case");
    }
    if (a->letter_case == SALI_CASE_MARKED) {
        return sali_remark_add(remark, a->insertions > 0, err,
                               "the line RF says which columns are aligned; %lld letters in other "
                               "columns are insertions and were dropped",
                               (long long)a->insertions);
    }
    return a->insertions > 0
               ? sali_remark_add(remark, true, err,
                                 "%lld lower-case letters are insertions and were dropped",
                                 (long long)a->insertions)
               : SAL_OK;
}

/* What the alphabet lacks. */
static const char *unknown_name(const sali_alignment *a)
{
    return has_gap(a) ? "letters" : "gaps or letters";
}

/* Append what happened to letters outside the alphabet: their sequences were dropped (`drop`), or
 * they count as gaps. */
static sal_status remark_unknown(const sali_alignment *a, const unknown_letters *unknown, bool drop,
                                 sali_remark *remark, sal_error *err)
{
    if (unknown->letters == 0) {
        return SAL_OK;
    }
    return drop ? sali_remark_add(remark, true, err,
                                  "%lld sequences with %s outside the alphabet were dropped",
                                  (long long)unknown->sequences, unknown_name(a))
                : sali_remark_add(remark, true, err,
                                  "%lld letters in %lld sequences are outside the alphabet and "
                                  "count as gaps (unknown=drop leaves these sequences out)",
                                  (long long)unknown->letters, (long long)unknown->sequences);
}

sal_status sali_alignment_remark(const sali_alignment *a, sali_remark *remark, sal_error *err)
{
    sali_alignment shown = *a;
    return sali_alignment_prepare(&shown, &(sali_alignment_rules){ 0 }, remark, err);
}

/* Mark in drop [sequences] the sequences that the rules leave out. Fails if unknown letters are to
 * be refused, and if all sequences have some that drop them. */
static sal_status choose_rows(const sali_alignment *a, const sali_alignment_rules *rules,
                              bool *drop, findings *found, sal_error *err)
{
    found->unknown = find_unknown(a, drop);
    found->without =
        found->unknown.letters > 0 && (rules->unknown == SAL_UNKNOWN_DROP || !has_gap(a));
    if (found->unknown.letters > 0 && rules->unknown == SAL_UNKNOWN_ERROR) {
        return fail_unknown(a, &found->unknown, err);
    }
    if (found->without && found->unknown.sequences == a->sequences) {
        return sali_fail(err, SAL_ERR_DATA,
                         "all %lld sequences have %s outside the alphabet (%s)%s",
                         (long long)a->sequences, unknown_name(a), a->alphabet,
                         has_gap(a) ? "; unknown=gap reads these letters as gaps" : "");
    }
    if (!found->without) {
        memset(drop, 0, (size_t)a->sequences * sizeof *drop);
    }
    return rules->duplicates == SAL_DUPLICATES_DROP ? mark_repeated(a, drop, &found->repeated, err)
                                                    : SAL_OK;
}

/* Append what was found to the remark on the sequences that are left. */
static sal_status remark_rows(const sali_alignment *a, const findings *found, sali_remark *remark,
                              sal_error *err)
{
    sal_status status = sali_remark_add(remark, false, err, "%lld sequences of %lld sites (%s)",
                                        (long long)a->sequences, (long long)a->length,
                                        sali_alphabet_name(a->alphabet));
    status = status ? status : remark_case(a, remark, err);
    status = status ? status : remark_unknown(a, &found->unknown, found->without, remark, err);
    if (status == SAL_OK && found->bases) {
        status = sali_remark_add(remark, true, err,
                                 "its letters are all A, C, G, T, U or N, as those of DNA and RNA, "
                                 "and are read as amino acids");
    }
    return status || found->repeated == 0
               ? status
               : sali_remark_add(remark, true, err,
                                 "%lld sequences that equal an earlier one were dropped",
                                 (long long)found->repeated);
}

sal_status sali_alignment_prepare(sali_alignment *a, const sali_alignment_rules *rules,
                                  sali_remark *remark, sal_error *err)
{
    bool *drop = SALI_NEW_ARRAY(bool, a->sequences);
    findings found = { 0 };
    if (!drop) {
        return sali_fail_memory(err);
    }
    sali_alignment_recode(a, rules->alphabet ? rules->alphabet : "");
    found.bases = are_bases(a);
    sal_status status = choose_rows(a, rules, drop, &found, err);
    if (status == SAL_OK && (found.without || found.repeated > 0)) {
        drop_rows(a, drop);
    }
    sali_free(drop);
    return status ? status : remark_rows(a, &found, remark, err);
}

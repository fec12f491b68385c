/* SPDX-License-Identifier: MIT */
/* Which sequences of an alignment are used, and remarks on them for the user. */
#include "models/zoo/alignment_rows.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"

static const char *const alphabet_names[] = { "protein", "protein", "RNA", "DNA" };

/* How many letters are not in the alphabet, and how many sequences have such letters. */
typedef struct unknown_letters {
    int64_t letters, sequences;
} unknown_letters;

/* Count the letters that are read as gaps, and mark their sequences in has [sequences]. */
static unknown_letters find_unknown(const sali_alignment *a, bool *has)
{
    unknown_letters found = { 0 };
    for (int64_t r = 0; a->letters && r < a->sequences; r++) {
        int64_t n = 0;
        for (int64_t i = r * a->length; i < (r + 1) * a->length; i++) {
            n += a->codes[i] == 0 && a->letters[i] != '-';
        }
        has[r] = n > 0;
        found.letters += n;
        found.sequences += n > 0;
    }
    return found;
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

/* Append what happened to letters outside the alphabet: their sequences were dropped (`drop`), or
 * they count as gaps. */
static sal_status remark_unknown(const unknown_letters *unknown, bool drop, sali_remark *remark,
                                 sal_error *err)
{
    if (unknown->letters == 0) {
        return SAL_OK;
    }
    return drop ? sali_remark_add(remark, true, err,
                                  "%lld sequences with letters outside the alphabet were dropped",
                                  (long long)unknown->sequences)
                : sali_remark_add(remark, true, err,
                                  "%lld letters in %lld sequences are outside the alphabet and "
                                  "count as gaps (unknown=drop leaves these sequences out)",
                                  (long long)unknown->letters, (long long)unknown->sequences);
}

sal_status sali_alignment_remark(const sali_alignment *a, sali_remark *remark, sal_error *err)
{
    return sali_alignment_prepare(&(sali_alignment){ .sequences = a->sequences,
                                                     .length = a->length,
                                                     .alphabet = a->alphabet,
                                                     .codes = a->codes,
                                                     .letters = a->letters,
                                                     .letter_case = a->letter_case,
                                                     .insertions = a->insertions },
                                  &(sali_alignment_rules){ 0 }, remark, err);
}

sal_status sali_alignment_prepare(sali_alignment *a, const sali_alignment_rules *rules,
                                  sali_remark *remark, sal_error *err)
{
    bool *drop = SALI_NEW_ARRAY(bool, a->sequences);
    if (!drop) {
        return sali_fail_memory(err);
    }
    sali_alignment_recode(a, rules->alphabet);
    int64_t repeated = 0, all = a->sequences;
    unknown_letters unknown = find_unknown(a, drop);
    bool without = rules->unknown == SAL_UNKNOWN_DROP && unknown.letters > 0;
    sal_status status = SAL_OK;
    if (!without) {
        memset(drop, 0, (size_t)a->sequences * sizeof *drop);
    }
    if (rules->duplicates == SAL_DUPLICATES_DROP) {
        status = mark_repeated(a, drop, &repeated, err);
    }
    if (status == SAL_OK && without && unknown.sequences == all) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "all %lld sequences have letters outside the alphabet (%s); "
                           "unknown=gap reads these letters as gaps",
                           (long long)all, sali_alphabet_letters(a->alphabet));
    }
    if (status == SAL_OK && (without || repeated > 0)) {
        drop_rows(a, drop);
    }
    sali_free(drop);
    status = status ? status
                    : sali_remark_add(remark, false, err, "%lld sequences of %lld sites (%s)",
                                      (long long)a->sequences, (long long)a->length,
                                      alphabet_names[a->alphabet]);
    status = status ? status : remark_case(a, remark, err);
    status = status ? status : remark_unknown(&unknown, without, remark, err);
    return status || repeated == 0
               ? status
               : sali_remark_add(remark, true, err,
                                 "%lld sequences that equal an earlier one were dropped",
                                 (long long)repeated);
}

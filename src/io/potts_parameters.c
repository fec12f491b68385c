/* SPDX-License-Identifier: MIT */
#include "io/potts_parameters.h"

#include <stdbool.h>

#include "core/error.h"
#include "io/scan.h"

/* Whether the next word is a whole number. */
static bool is_number(sali_scan *line)
{
    sali_token word = sali_scan_token(line);
    for (int64_t k = 0; k < word.size; k++) {
        if (word.text[k] < '0' || word.text[k] > '9') {
            return false;
        }
    }
    return word.size > 0;
}

/* Whether the next word is a state: a letter, '-' or a whole number. */
static bool is_state(sali_scan *line)
{
    sali_scan word = *line;
    sali_token token = sali_scan_token(line);
    return is_number(&word) ||
           (token.size == 1 &&
            (token.text[0] == '-' || (token.text[0] >= 'A' && token.text[0] <= 'Z')));
}

/* Whether the first line describes a coupling, "J i j a b value", or a field, "h i a value". */
static bool is_parameters(const void *bytes, int64_t size)
{
    sali_scan text = sali_scan_of("", bytes, size, 0, NULL), line = { 0 };
    if (!sali_scan_line(&text, &line)) {
        return false;
    }
    line.err = NULL;
    sali_token word = sali_scan_token(&line);
    const bool coupling = word.size == 1 && word.text[0] == 'J';
    if (!coupling && !(word.size == 1 && word.text[0] == 'h')) {
        return false;
    }
    bool sites = is_number(&line) && (!coupling || is_number(&line));
    bool states = sites && is_state(&line) && (!coupling || is_state(&line));
    sali_scan_double(&line, "a value");
    return states && sali_scan_end(&line) == SAL_OK;
}

sal_status sali_refuse_potts_parameters(const char *path, const void *bytes, int64_t size,
                                        sal_error *err)
{
    return !is_parameters(bytes, size)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA,
                           "%s: holds parameters of a Potts model as adabmDCA and bmDCA write them "
                           "(lines 'J i j a b value' and 'h i a value'), which are not read. Open "
                           "the alignment that they were learned from (potts-alignment:file=..), "
                           "and give them as tensors J and h (--params NAME.safetensors): J "
                           "symmetric [sites x letters, sites x letters], f = x'Jx / 2 + h'x",
                           path);
}

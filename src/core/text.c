/* SPDX-License-Identifier: MIT */
#include "core/text.h"

#include <string.h>

#include "core/error.h"

void sali_list_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used ? ", " : "", name);
}

bool sali_has_suffix(const char *text, const char *suffix)
{
    size_t length = text ? strlen(text) : 0, n = strlen(suffix);
    return length > n && strcmp(text + length - n, suffix) == 0;
}

void sali_print_wrapped(const char *text, FILE *stream)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > 78) {
            fputc('\n', stream);
            column = 0;
        }
        column += (size_t)fprintf(stream, "%s%.*s", column ? " " : "", (int)word, text);
        text += word + (text[word] == ' ');
    }
    fputc('\n', stream);
}

/* ---- alphabets */

/* Characters that end a letter's field in files of sequences, in specifications or in XML, or that
 * files of sequences write for a gap. */
static const char taken[] = ",.~;#>\"'&<";

_Static_assert('~' - ' ' + 1 - (int)sizeof taken < SAL_ALPHABET_ROOM, "an alphabet has no room");

sal_status sali_letters_check(const char *letters, sal_error *err)
{
    bool seen[128] = { false };
    for (int k = 0; letters[k]; k++) {
        const unsigned char c = (unsigned char)letters[k];
        if (c <= ' ' || c > '~') {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "letter %d of the alphabet is the byte %d; expected printable "
                             "characters of ASCII, without blanks",
                             k + 1, c);
        }
        if (strchr(taken, c)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "'%c' cannot be a letter of an alphabet: it has a meaning in files of "
                             "sequences or in specifications, as all of %s have",
                             c, taken);
        }
        if (seen[c]) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "the alphabet %s has the letter '%c' twice",
                             letters, c);
        }
        if (c == '-' && k > 0) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "the alphabet %s has the gap '-' at place %d; expected it first, or "
                             "no gap",
                             letters, k + 1);
        }
        seen[c] = true;
    }
    return letters[0] && letters[1]
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "the alphabet '%s' has fewer than two letters",
                           letters);
}

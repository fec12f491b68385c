/* SPDX-License-Identifier: MIT */
/* The letters that stand for the states of a space's variables. */
#include <string.h>

#include <saltus/program.h>
#include "core/error.h"
#include "models/alphabet.h"

/* The letters of the first block, if all variables are categorical with as many states as that
 * has; "" if it has none, NULL for other variables. */
static const char *letters_of(const sal_space *space)
{
    const sal_block *first = sal_space_block(space, 0), *block;
    for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
        if (block->kind != SAL_CATEGORICAL || block->states != first->states) {
            return NULL;
        }
    }
    return first->letters ? first->letters : "";
}

sal_status sal_space_alphabet(const sal_space *space, const char *alphabet, char *letters,
                              sal_error *err)
{
    char asked[SAL_ALPHABET_ROOM] = "";
    const char *own = sal_space_variables(space) > 0 ? letters_of(space) : NULL;
    sal_status status = sali_alphabet_parse(alphabet, asked, err);
    if (status != SAL_OK) {
        return status;
    }
    const char *found =
        own ? sali_alphabet_fits(sal_space_states(space, 0), asked[0] ? asked : own) : NULL;
    if (!found && asked[0]) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "sequences have letters of %s, and the model's variables are not all "
                         "categorical with as many states",
                         sali_alphabet_name(asked));
    }
    if (!found) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "sequences have letters of an alphabet of 5 (RNA, DNA) or 21 (proteins), "
                         "or of one less, without the gap, and the model's variables are not all "
                         "categorical with as many states; an alphabet of your own gives the "
                         "letters of other numbers of states");
    }
    strcpy(letters, found);
    return SAL_OK;
}

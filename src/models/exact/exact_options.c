/* SPDX-License-Identifier: MIT */
/* Options of exact answers, as text. */
#include <saltus/model.h>
#include <saltus/program.h>
#include "core/option.h"

#define EXACT(member) SALI_FIELD(sal_exact_options, member)

static const sali_option entries[] = {
    SALI_OPTION("oracle", TEXT, "NAME",
                "forward-backward, closed form, enumeration, elimination or enumeration of hidden "
                "units",
                EXACT(oracle), .usual = "the cheapest that can serve the model"),
    SALI_OPTION("limit", WHOLE, "N",
                "largest number of states to enumerate, of the model or of hidden units",
                EXACT(limit), SALI_FROM(1), SALI_USUAL(1048576)),
    SALI_OPTION("memory", WHOLE, "BYTES", "largest size of elimination's tables", EXACT(memory),
                SALI_FROM(1), SALI_USUAL(1073741824)),
    SALI_OPTION("threads", INT, "N", "number of threads; results do not depend on it",
                EXACT(threads), .usual = "all", SALI_RANGE(0, 4096)),
};

static const sal_option_table table = { "exact: ", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_exact_option_table(void)
{
    return &table;
}

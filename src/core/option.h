/* SPDX-License-Identifier: MIT */
/* Tables of options, from which defaults, ranges, texts and comparisons follow. */
#ifndef SALI_OPTION_H
#define SALI_OPTION_H

#include <float.h>
#include <math.h>
#include <stddef.h>

#include <saltus/options.h>

/* Ends of a range that are not part of it, and values outside it with a meaning. */
enum {
    SALI_ABOVE = 1,       /* low is not */
    SALI_BELOW = 2,       /* high is not */
    SALI_OR_NONE = 4,     /* -1 in the struct, "0" as a text: none */
    SALI_OR_MINUS_ONE = 8 /* -1 has a meaning of its own */
};

/* Where 0 is out of its range or the option can be none, 0 in the struct asks for the usual value:
 * for `fill`, or if that is 0 for what is found out later. */
typedef struct sali_option {
    const char *name, *field; /* as in sal_option_info, and so are */
    sal_option_kind kind;
    const char *values, *usual, *doc;
    sal_option_resume resume;
    size_t offset;
    double low, high;         /* of numbers */
    unsigned range;           /* what of its ends is part of it */
    double fill;              /* the usual value, if it is a number that is always the same */
    const char *const *words; /* of SAL_OPTION_WORD, by their values, ending with NULL; "": has none
                               */
} sali_option;

struct sal_option_table {
    const char *what; /* before the names in messages: "train: " */
    int64_t n;
    const sali_option *options;
};

/* Those of the structs (sal_option_table_of): run/, train/. */
const sal_option_table *sali_run_option_table(void);
const sal_option_table *sali_train_option_table(void);
const sal_option_table *sali_ais_option_table(void);
const sal_option_table *sali_inpaint_option_table(void);

/* An entry, of which the rest is below. */
#define SALI_OPTION(NAME, KIND, VALUES, DOC, ...)                                          \
    {                                                                                      \
        .name = NAME, .kind = SAL_OPTION_##KIND, .values = VALUES, .doc = DOC, __VA_ARGS__ \
    }

/* Room for what is expected of one. */
#define SALI_OPTION_ROOM 128

/* Fields of an entry: where it is in the struct; whole numbers and reals from `from` on; its usual
 * value. */
#define SALI_FIELD(type, member) .field = #member, .offset = offsetof(type, member)
#define SALI_RANGE(from, to) .low = (double)(from), .high = (double)(to)
#define SALI_FROM(from) SALI_RANGE(from, INFINITY)
#define SALI_REAL_FROM(from) SALI_RANGE(from, DBL_MAX)
#define SALI_USUAL(number) .usual = #number, .fill = number

#endif

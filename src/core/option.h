/* SPDX-License-Identifier: MIT */
/* Tables of options. A table says for each option of a struct its name, type, range and usual
 * value. Defaults, checks, texts, help and the comparison of a resumed run with the first are made
 * from it. */
#ifndef SALI_OPTION_H
#define SALI_OPTION_H

#include <float.h>
#include <math.h>
#include <stddef.h>

#include <saltus/options.h>
#include <saltus/program.h>

/* Flags of a range. Without them, both ends belong to the range. */
enum {
    SALI_ABOVE = 1,        /* values must be above `low` */
    SALI_BELOW = 2,        /* values must be below `high` */
    SALI_OR_NONE = 4,      /* the option can be switched off: -1 in the struct, the text "0" */
    SALI_OR_MINUS_ONE = 8, /* -1 is allowed too, and has a meaning of its own */
    SALI_TIME = 16         /* seconds: the text may end with a unit, as in 90s, 10m and 2h */
};

/* One option. A 0 in the struct stands for the usual value if 0 is out of the range, or if the
 * option can be switched off. The usual value is then `fill`; if that is 0 too, the code that uses
 * the option finds a value. */
typedef struct sali_option {
    const char *name, *field; /* these six as in sal_option_info */
    sal_option_kind kind;
    const char *values, *usual, *doc;
    sal_option_resume resume;
    size_t offset;            /* of the field in the struct */
    double low, high;         /* the range of a number */
    unsigned range;           /* SALI_ABOVE and so on, added up */
    double fill;              /* the usual value, if it is a number that is always the same */
    const char *const *words; /* of SAL_OPTION_WORD: the words by their values, then NULL; "" where
                               * a value has no word */
} sali_option;

struct sal_option_table {
    const char *what; /* what messages put before a name: "train: " */
    int64_t n;
    const sali_option *options;
};

/* The tables of the structs of options, in the folders of what they belong to. */
const sal_option_table *sali_run_option_table(void);
const sal_option_table *sali_train_option_table(void);
const sal_option_table *sali_ais_option_table(void);
const sal_option_table *sali_log_z_option_table(void);
const sal_option_table *sali_inpaint_option_table(void);
const sal_option_table *sali_exact_option_table(void);
const sal_option_table *sali_data_option_table(void);

/* The number in a field of the type `kind`, in a struct of options or of results; flags are 0 or 1,
 * texts 0. */
double sali_field_number(sal_option_kind kind, const void *field);

/* Whether `names`, separated by commas, has the name of an option; '_' counts as '-'. */
bool sali_option_is_among(const sali_option *option, const char *names);

/* Whether the field of an option is 0, false or NULL; and copy the field from one struct to
 * another. */
bool sali_option_is_zero(const sali_option *option, const void *options);
void sali_option_copy(const sali_option *option, const void *from, void *to);

/* An entry of a table. The last arguments are any of the fields below. */
#define SALI_OPTION(NAME, KIND, VALUES, DOC, ...)                                          \
    {                                                                                      \
        .name = NAME, .kind = SAL_OPTION_##KIND, .values = VALUES, .doc = DOC, __VA_ARGS__ \
    }

/* Room for the text that says what values an option takes. */
#define SALI_OPTION_ROOM 128

/* Fields of an entry: its place in the struct; its range, or a range without an upper end for whole
 * numbers (FROM) and for reals (REAL_FROM); its usual value. */
#define SALI_FIELD(type, member) .field = #member, .offset = offsetof(type, member)
#define SALI_RANGE(from, to) .low = (double)(from), .high = (double)(to)
#define SALI_FROM(from) SALI_RANGE(from, INFINITY)
#define SALI_REAL_FROM(from) SALI_RANGE(from, DBL_MAX)
#define SALI_USUAL(number) .usual = #number, .fill = number

#endif

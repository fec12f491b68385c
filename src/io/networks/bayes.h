/* SPDX-License-Identifier: MIT */
/* What the formats of Bayesian networks with names share: how a network is put together while its
 * file is read, what is checked then, and what is checked before a network is written. */
#ifndef SALI_BAYES_H
#define SALI_BAYES_H

#include "core/name_table.h"
#include "io/scan.h"
#include "io/text_output.h"
#include "models/content.h"

/* Largest distance of a row's sum from 1: decimals are rounded. */
#define SALI_ROW_ROUNDING 0.02

/* The most entries of tables that a file may leave out: it can only list as many as it has words.
 */
#define SALI_UNLISTED_MAX ((int64_t)1 << 22)

/* ---- reading */

/* A network in the making. The order of calls: sali_bayes_begin; for each variable
 * sali_bayes_new_name into `variables`, then sali_bayes_add_states; for each table
 * sali_bayes_add_to_scope for the parents and then for the child, sali_bayes_close_scope,
 * sali_bayes_table, and sali_bayes_take_row for each row; sali_bayes_end; in any case
 * sali_bayes_clear. After a failure of the scanner all of them do nothing. */
typedef struct sali_bayes {
    sali_scan *scan;
    sali_factor_graph *g;
    sali_remark *remark;
    sali_name_table variables; /* the network takes over the names at the end */
    int64_t *last_use;         /* [variables]: 1 + the last factor whose scope has it */
    int64_t *table_of;         /* [variables]: 1 + the factor of which it is the child; 0: none */
    sali_name_table *states;   /* [variables] */
    int64_t scope_size;        /* of the table in the making */
    int64_t states_room, names_room, use_room, table_of_room;
    int64_t scope_begin_room, table_begin_room, scope_room, table_room;
    int64_t rounded, worst_child; /* rows divided by their sums; the child where one is worst */
    double worst_sum;
    bool weights;    /* set by the format: rows hold weights, which may have any positive sum */
    int64_t divided; /* rows of such weights */
} sali_bayes;

/* Begin with the empty network out->network, which stays the caller's. */
void sali_bayes_begin(sali_bayes *b, sali_scan *scan, sali_content *out);

/* Add a name to `names` and return its number; `what` names the kind of name in messages. Fails if
 * it is empty, has control characters or is there already; then -1. */
int64_t sali_bayes_new_name(sali_scan *scan, sali_name_table *names, const sali_token *name,
                            const char *what);

/* The variable of that name, whose place in the file `what` describes; fails if there is none, and
 * returns -1. */
int64_t sali_bayes_find(sali_bayes *b, const sali_token *name, const char *what);

/* Give the variable that was named last its states, and empty the table `states`. Fails if it has
 * none. */
void sali_bayes_add_states(sali_bayes *b, int64_t line, sali_name_table *states);

/* The state of that name of a variable; fails if there is none, and returns -1. */
int64_t sali_bayes_find_state(sali_bayes *b, int64_t variable, const sali_token *name);

/* Add a variable to the scope of the next table: the parents in their order, then the child. Fails
 * for a variable that is there already. */
void sali_bayes_add_to_scope(sali_bayes *b, int64_t line, int64_t variable);

/* Check the scope, and return the number of entries of its table, the child's states changing
 * fastest; 0 after a failure. Fails if the child has a table, and for tables that are much larger
 * than the file. */
int64_t sali_bayes_close_scope(sali_bayes *b, int64_t line);

/* The child of the table in the making, and the number of its states. */
int32_t sali_bayes_child(const sali_bayes *b);
int32_t sali_bayes_child_states(const sali_bayes *b);

/* Make that table, g->factors - 1 from then on, and return its entries, each of them NaN. They stay
 * where they are until the next table. NULL after a failure. */
double *sali_bayes_table(sali_bayes *b, int64_t entries);

/* Turn row `row`, from 0, of the table of factor f from probabilities into logarithms. A sum that
 * is 1 but for rounding is divided out, which a remark at the end reports, and so is any positive
 * sum of weights; other sums, and negative entries, are a failure at `line`. */
void sali_bayes_take_row(sali_bayes *b, int64_t line, int64_t f, int64_t row);

/* The same for all rows of factor f. */
void sali_bayes_take_rows(sali_bayes *b, int64_t line, int64_t f);

/* Hand the names over to the network. Fails if a variable has no table or is its own ancestor. */
void sali_bayes_end(sali_bayes *b);

/* Free all but the network. */
void sali_bayes_clear(sali_bayes *b);

/* ---- writing */

#define SALI_BAYES_NAME_SIZE 24

/* The name of variable v, or of its state k: if the network has none, x0, x1, .. or s0, s1, ..,
 * which are put into `room`. */
const char *sali_bayes_variable_name(const sali_factor_graph *g, int64_t v,
                                     char room[SALI_BAYES_NAME_SIZE]);
const char *sali_bayes_state_name(const sali_factor_graph *g, int64_t v, int64_t k,
                                  char room[SALI_BAYES_NAME_SIZE]);

/* Whether a name is UTF-8, not empty, without control characters and without blanks around it. */
bool sali_bayes_is_name(const char *name);

/* Fails with ARGUMENT unless the network is Bayesian and acyclic, each factor is the distribution
 * of the last variable of its scope, and each variable has one. `format` names the format in the
 * message. */
void sali_bayes_check(sali_text_output *w, const sali_factor_graph *g, const char *format);

/* Fails with ARGUMENT if sali_bayes_is_name or `fits` is false for a name of a variable or state.
 * `fits` may be NULL; `cannot` says what else the format cannot hold. */
void sali_bayes_check_names(sali_text_output *w, const sali_factor_graph *g,
                            bool (*fits)(const char *name), const char *cannot);

#endif

/* SPDX-License-Identifier: MIT */
/* Orders in which to eliminate variables, found by greedy rules on the graph of the terms. */
#ifndef SALI_ELIMINATION_ORDER_H
#define SALI_ELIMINATION_ORDER_H

#include "models/structure/local_terms.h"

/* Eliminating a variable joins the variable and its neighbours to a clique. The clique's table has
 * as many entries as these variables have joint states. */
typedef struct sali_elimination_order {
    int32_t n;
    int32_t *variable; /* [n] first to last */
    int32_t width;     /* most neighbours that a variable has when it is eliminated */
    int32_t states;    /* most states of a variable */
    double work;       /* entries of all cliques' tables */
    double pair_work;  /* the same, when each table is recomputed for each state of all variables
                          that are connected with its own */
    double largest;    /* entries of the largest clique's table */
    double messages; /* entries of all messages: the cliques' tables with the variable summed out */
    bool complete; /* false: given up; the numbers above then cover a part of the variables only */
} sali_elimination_order;

/* The order of least `work` among several tries: least table first (min-weight); the variables' own
 * order; fewest new edges first (min-fill), counted by number and by the states of their ends; and
 * min-fill with ties broken at random, by a generator of fixed seed, as often as a fixed budget and
 * `steps` allow. Budget and `steps` count entries of neighbour lists that are read. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_elimination_order_create(const sali_local_terms *terms, int64_t steps,
                                         sali_elimination_order *order, sal_error *err);

/* The order that visits the variables as listed [n]. It is not complete if that takes more than
 * `steps`. Returns: SAL_ERR_MEMORY. */
sal_status sali_elimination_order_along(const sali_local_terms *terms, const int32_t *variables,
                                        int64_t steps, sali_elimination_order *order,
                                        sal_error *err);
void sali_elimination_order_free(sali_elimination_order *order);

#endif

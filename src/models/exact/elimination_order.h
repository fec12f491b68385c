/* SPDX-License-Identifier: MIT */
/* Orders in which to eliminate variables, found by greedy rules on the graph of the terms. */
#ifndef SALI_ELIMINATION_ORDER_H
#define SALI_ELIMINATION_ORDER_H

#include "models/structure/local_terms.h"

/* Eliminating a variable makes a clique of it and its neighbours; the clique's table has the
 * product of their states. */
typedef struct sali_elimination_order {
    int32_t n;
    int32_t *variable; /* [n] first to last */
    int32_t width;     /* the most neighbours of a variable when it is eliminated */
    int32_t states;    /* the most of a variable */
    double work;       /* entries of all cliques' tables */
    double pair_work;  /* and when each is made again for each state of the variables connected with
                          its own */
    double largest;    /* of the largest one */
    double messages;   /* entries of all tables that remain when the variable is summed out */
    bool complete;     /* false: given up; width and the rest are then less than they would be */
} sali_elimination_order;

/* The order of least `work` among several: least table first (min-weight), the variables' own
 * order, fewest new edges first (min-fill), by number and by the ends' states, and min-fill with
 * ties broken at random, by a generator of fixed seed, as often as a fixed budget allows, and no
 * longer than so many `steps`: entries of neighbour lists. Returns: SAL_ERR_MEMORY. */
sal_status sali_elimination_order_create(const sali_local_terms *terms, int64_t steps,
                                         sali_elimination_order *order, sal_error *err);
void sali_elimination_order_free(sali_elimination_order *order);

#endif

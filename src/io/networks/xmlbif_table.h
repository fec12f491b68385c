/* The TABLE elements of XMLBIF. */
#ifndef SALI_XMLBIF_TABLE_H
#define SALI_XMLBIF_TABLE_H

#include "io/xml.h"

/* Read log p [entries], in memory of its own: rows over the `states` of the variable that is FOR,
 * each divided by its sum where that is 1 but for rounding. `name` is for messages.
 * Returns: DATA with name:line for another number of entries, or what is no distribution; MEMORY.
 */
sal_status sali_xmlbif_table(const char *name, const xmlNode *table, int32_t states,
                             int64_t entries, double **log_p, sal_error *err);

#endif

/* Images to be retrieved, made from a seed. */
#ifndef SALI_RETRIEVAL_H
#define SALI_RETRIEVAL_H

#include "models/model.h"
#include "models/content.h"

/* Rows of features with labels, as `retrieval` makes them without a file: classes around normal
 * means, `spread` times normal noise; row i is of class i mod classes.
 * Returns: SAL_ERR_MEMORY. */
sal_status sali_retrieval_images(int64_t images, int64_t classes, int64_t features, double spread,
                                 uint64_t seed, sali_array *out, sal_error *err);

/* Variable v of the model is this row of the array: the query is none of them. */
static inline int64_t sali_retrieval_row(int64_t v, int64_t query)
{
    return v < query ? v : v + 1;
}

/* Of a model `retrieval` with labels: [V], 1 where the image has the query's label. NULL: it is
 * another model, or there are no labels. */
const int32_t *sali_retrieval_relevant(const sal_model *model);

#endif

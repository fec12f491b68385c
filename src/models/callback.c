/* SPDX-License-Identifier: MIT */
/* A model that is the user's own function, of one state or of several. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/model.h"

typedef struct callback_content {
    sal_callback callback;
    int64_t width;
} callback_content;

/* The workspace is the content itself: a callback needs no buffers. */
static sal_status callback_open(const sal_model *model, int64_t chains, unsigned wants, void **ws,
                                sal_error *err)
{
    (void)chains;
    (void)wants;
    (void)err;
    *ws = model->content;
    return SAL_OK;
}

static void callback_close(void *ws)
{
    (void)ws;
}

/* With `gradient` NULL: values only. A batch callback finds NaN in all outputs, so that an entry
 * that it leaves out is reported as an error. */
static void callback_gradient(void *ws, int64_t chains, const int32_t *codes, const void *x,
                              double *f, void *gradient)
{
    const callback_content *content = ws;
    const double *row = x;
    double *g = gradient;
    (void)codes;
    if (content->callback.batch) {
        for (int64_t c = 0; c < chains; c++) {
            f[c] = NAN; /* what it does not fill is an error */
        }
        for (int64_t k = 0; g && k < chains * content->width; k++) {
            g[k] = NAN;
        }
        content->callback.batch(chains, row, f, g, content->callback.data);
        return;
    }
    for (int64_t c = 0; c < chains; c++) {
        f[c] = content->callback.f(row + c * content->width, g ? g + c * content->width : NULL,
                                   content->callback.data);
    }
}

static void callback_value(void *ws, int64_t chains, const int32_t *codes, const void *x, double *f)
{
    callback_gradient(ws, chains, codes, x, f, NULL);
}

static const sali_model_ops callback_ops = {
    .open = callback_open,
    .close = callback_close,
    .value = callback_value,
    .gradient = callback_gradient,
    .destroy = sali_free,
};

sal_status sal_model_from_callback(const sal_space *space, const sal_callback *callback,
                                   sal_model **model, sal_error *err)
{
    if (!space || space->n_variables == 0 || !callback || !callback->f == !callback->batch) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "sal_model_from_callback: expected a space with variables and one function, "
            "f or batch");
    }
    callback_content *content = SALI_NEW(callback_content);
    if (content) {
        *content = (callback_content){ .callback = *callback, .width = space->width };
    }
    sal_model *made = NULL;
    sal_status status = sali_model_create(&callback_ops, content, sali_space_clone(space), SAL_F64,
                                          "callback", &made, err);
    if (status == SAL_OK) {
        made->has_gradient = callback->has_gradient;
        *model = made;
    }
    return status;
}

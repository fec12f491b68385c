/* SPDX-License-Identifier: MIT */
/* Parameters of models in safetensors files. */
#include <saltus/io.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/safetensors.h"
#include "io/scan.h"
#include "models/tape_model.h"

/* SAL_OK if the model is made from a tape, and so has parameters. */
static sal_status check_tape(const sal_model *model, const char *path, sal_error *err)
{
    if (!model || !path) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "parameters: the model or the path is NULL");
    }
    return sali_model_tape(model)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%s: a model that is not made from a tape has no parameters",
                           model->name);
}

sal_status sal_model_save_params(const sal_model *model, const char *path_safetensors,
                                 sal_error *err)
{
    sal_status status = check_tape(model, path_safetensors, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_tape_model *tape = sali_model_tape(model);
    const sali_program *program = tape->program;
    sali_tensor *tensors = SALI_NEW_ARRAY(sali_tensor, program->n_parameters);
    if (!tensors) {
        return sali_fail_memory(err);
    }
    for (int32_t p = 0; p < program->n_parameters; p++) {
        int32_t i = program->parameters[p].node;
        const sali_node *node = &program->nodes[i];
        tensors[p] = (sali_tensor){
            .name = node->name,
            .dtype = program->dtype == SAL_F32 ? SALI_DTYPE_F32 : SALI_DTYPE_F64,
            .ndim = node->shape.rank,
            .data = tape->params->value[i],
        };
        memcpy(tensors[p].shape, node->shape.dim, sizeof node->shape.dim);
    }
    status = sali_safetensors_write(path_safetensors, tensors, program->n_parameters, err);
    sali_free(tensors);
    return status;
}

/* ---- loading */

/* Collects everything that does not fit, for one message. */
typedef struct complaints {
    char text[SAL_ERROR_SIZE];
    int64_t count;
} complaints;

static void add_complaint(complaints *all, const char *name, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%s'%s' %s", all->count++ ? "; " : "",
             sali_show(name, -1, shown), what);
}

static bool is_real(sali_dtype dtype)
{
    return dtype == SALI_DTYPE_F16 || dtype == SALI_DTYPE_BF16 || dtype == SALI_DTYPE_F32 ||
           dtype == SALI_DTYPE_F64;
}

static bool same_shape(const sali_tensor *tensor, const sal_shape *shape)
{
    bool same = tensor->ndim == shape->rank;
    for (int32_t i = 0; same && i < shape->rank; i++) {
        same = tensor->shape[i] == shape->dim[i];
    }
    return same;
}

/* Add the complaint that a tensor has another shape than expected. */
static void complain_shape(complaints *all, const sali_tensor *tensor, const sal_shape *expected)
{
    char what[320], wanted[SALI_SHAPE_TEXT];
    size_t used = (size_t)snprintf(what, sizeof what, "has shape [");
    for (int i = 0; i < tensor->ndim; i++) {
        used += (size_t)snprintf(what + used, sizeof what - used, i ? ", %" PRId64 : "%" PRId64,
                                 tensor->shape[i]);
    }
    snprintf(what + used, sizeof what - used, "], expected %s", sali_shape_text(expected, wanted));
    add_complaint(all, tensor->name, what);
}

/* Add a complaint if one of n numbers is NaN or too large for the type. */
static void check_values(complaints *all, const char *name, sal_dtype dtype, int64_t n,
                         const double *values)
{
    bool nan = false, large = false;
    for (int64_t k = 0; k < n; k++) {
        nan |= isnan(values[k]);
        large |= isfinite(values[k]) && isinf((float)values[k]);
    }
    if (nan) {
        add_complaint(all, name, "holds NaN");
    } else if (large && dtype == SAL_F32) {
        add_complaint(all, name, "holds numbers too large for the model's type, f32");
    }
}

/* Copy parameter p of the program from its tensor to its place in `flat`, or add a complaint. */
static void take_parameter(const sali_program *program, int32_t p, const sali_safetensors *file,
                           double *flat, complaints *all)
{
    const sali_parameter *place = &program->parameters[p];
    const sali_node *node = &program->nodes[place->node];
    const sali_tensor *tensor = sali_safetensors_find(file, node->name);
    if (!tensor) {
        add_complaint(all, node->name, "is missing");
    } else if (!same_shape(tensor, &node->shape)) {
        complain_shape(all, tensor, &node->shape);
    } else if (!is_real(tensor->dtype)) {
        add_complaint(all, node->name, "is not of real numbers");
    } else {
        sali_tensor_doubles(tensor, flat + place->first);
        check_values(all, node->name, program->dtype, place->size, flat + place->first);
    }
}

/* Copy all parameters from the file to `flat`. SAL_ERR_DATA lists all that are missing, unknown or
 * do not fit. */
static sal_status take_all(const sal_model *model, const char *path, const sali_safetensors *file,
                           double *flat, sal_error *err)
{
    const sali_program *program = sali_model_tape(model)->program;
    complaints all = { .count = 0 };
    for (int32_t p = 0; p < program->n_parameters; p++) {
        take_parameter(program, p, file, flat, &all);
    }
    for (int64_t k = 0; k < sali_safetensors_count(file); k++) {
        const char *name = sali_safetensors_at(file, k)->name;
        if (sali_program_find(program, name) < 0) {
            add_complaint(&all, name, "is no parameter of the model");
        }
    }
    return all.count == 0 ? SAL_OK
                          : sali_fail(err, SAL_ERR_DATA, "%s: does not fit %s: %s", path,
                                      model->name, all.text);
}

sal_status sal_model_load_params(sal_model *model, const char *path_safetensors, sal_error *err)
{
    sal_status status = check_tape(model, path_safetensors, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_safetensors *file = NULL;
    double *flat = SALI_NEW_ARRAY(double, sal_model_parameters_size(model));
    status = flat ? sali_safetensors_open(path_safetensors, &file, err) : sali_fail_memory(err);
    status = status ? status : take_all(model, path_safetensors, file, flat, err);
    status = status ? status : sal_model_set_params(model, NULL, flat, err);
    sali_safetensors_close(file);
    sali_free(flat);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* Starting parameters that suit a data set. */
#include <saltus/train.h>
#include "core/alloc.h"
#include "core/error.h"
#include "models/levels/levels.h"
#include "models/zoo/builtin.h"
#include "train/data.h"

/* Mean of the data by coordinate of the embedding, in 0..1: the share of the highest code, or of
 * each label; of a count without a cap the mean itself. */
static void data_mean(const sal_space *space, const sal_data *data, double *mean)
{
    double sum = sali_data_weight(data);
    for (int64_t r = 0; r < data->rows; r++) {
        double unit = (data->weight ? data->weight[r] : 1) / sum;
        for (int64_t v = 0; v < space->n_variables; v++) {
            const sali_variable *variable = &space->variables[v];
            int64_t at = r * space->n_variables + v;
            double code = data->intensity ? data->intensity[at] : data->codes[at];
            if (variable->kind == SAL_CATEGORICAL) {
                mean[variable->offset + data->codes[at]] += unit;
            } else {
                int32_t highest = variable->states > 0 ? variable->states - 1 : 1;
                mean[variable->offset] += unit * code / highest;
            }
        }
    }
}

/* The builtin model of a specification, in which a key `file` is ignored. */
static sal_status find_record(const char *specification, const sali_builtin **builtin,
                              sal_error *err)
{
    double values[SAL_SETTINGS];
    char *rest = sali_strdup(specification), *path = NULL;
    sal_status status =
        rest ? sali_specification_take(rest, "file", &path, err) : sali_fail_memory(err);
    status = status ? status : sali_builtin_parse(rest, builtin, values, err);
    sali_free(rest);
    sali_free(path);
    return status;
}

/* Set all parameters to 0, for models without starting values of their own. */
static sal_status zero_params(sal_model *model, sal_error *err)
{
    const int64_t n = sal_model_parameters_size(model);
    double *zeros = SALI_NEW_ARRAY(double, n);
    if (!zeros) {
        return sali_fail_memory(err);
    }
    sal_status status = n > 0 ? sal_model_set_params(model, NULL, zeros, err) : SAL_OK;
    sali_free(zeros);
    return status;
}

/* The space of rows of data: the model's, without the level if the rows have none. */
static sal_space *space_of_rows(const sal_model *model, const sal_data *data)
{
    const bool level =
        sal_model_levels(model) > 0 && data->variables == model->space->n_variables - 1;
    return level ? sali_levels_space(model) : sali_space_clone(model->space);
}

/* Set starting values from the data's mean by coordinate; the mean of a level is 0. */
static sal_status start_at_data(sal_model *model, const sali_builtin *builtin, const sal_data *data,
                                uint64_t seed, sal_error *err)
{
    sal_space *space = space_of_rows(model, data);
    double *mean = SALI_NEW_ARRAY(double, model->space->width);
    sal_status status = space && mean ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_data_check("the start of training", data, space, err);
    if (status == SAL_OK && builtin->init) {
        data_mean(space, data, mean);
        status = builtin->init(model, seed, mean, err);
    } else if (status == SAL_OK) {
        status = zero_params(model, err);
    }
    sal_space_destroy(space);
    sali_free(mean);
    return status;
}

sal_status sal_model_train_start(sal_model *model, const char *specification, const sal_data *data,
                                 uint64_t seed, sal_error *err)
{
    const sali_builtin *builtin = NULL;
    if (!model || !specification || !data) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "sal_model_train_start: the model, its specification or the data are NULL");
    }
    sal_status status = find_record(specification, &builtin, err);
    return status ? status : start_at_data(model, builtin, data, seed, err);
}

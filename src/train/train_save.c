/* SPDX-License-Identifier: MIT */
/* The files of a training that other programs open. */
#include <saltus/io.h>
#include <saltus/train.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "train/trajectory_file.h"

/* Save averages as parameters: they take the place of the model's parameters during the call. */
static sal_status save_averages(sal_model *model, const double *averages, const char *path,
                                sal_error *err)
{
    double *values = SALI_NEW_ARRAY(double, sal_model_parameters_size(model));
    if (!values) {
        return sali_fail_memory(err);
    }
    sal_status status = sal_model_get_params(model, NULL, values, err);
    if (status == SAL_OK) {
        status = sal_model_set_params(model, NULL, averages, err);
        status = status ? status : sal_model_save_params(model, path, err);
        const sal_status back = sal_model_set_params(model, NULL, values, err);
        status = status ? status : back;
    }
    sali_free(values);
    return status;
}

sal_status sal_train_save(const sal_train_report *report, sal_model *model, const char *directory,
                          sal_error *err)
{
    char path[SALI_PATH];
    if (!report || !model || !directory) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_train_save: the report, the model or the directory are NULL");
    }
    if (!report->best) { /* the files keep the best one */
        return SAL_OK;
    }
    sal_status status = sali_path_in(directory, "model.xml", path, err);
    status = status ? status : sal_model_save(model, path, err);
    if (status == SAL_OK && report->averages) {
        status = sali_path_in(directory, "ema.safetensors", path, err);
        status = status ? status : save_averages(model, report->averages, path, err);
    }
    if (status == SAL_OK && report->trajectory) {
        status = sali_trajectory_save(report->trajectory, directory, model, report, err);
    }
    return status;
}

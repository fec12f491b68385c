/* What a file of draws says about itself: attributes of all its groups. */
#include <stdlib.h>
#include <time.h>

#include "core/error.h"
#include "io/draws/draw_configuration.h"
#include "io/draws/draw_layout.h"
#include "io/json_text.h"
#include "models/model.h"

/* The version of ArviZ whose layout this is: its readers before 1.0 look for one. */
#define ARVIZ_VERSION "0.17.0"

/* All groups of a file, the file itself first; their number. */
static int groups_of(const sali_draw_layout *l, int groups[6])
{
    int n = 0;
    groups[n++] = SALI_NETCDF_ROOT;
    for (int k = 0; k < l->n_sections; k++) {
        groups[n++] = l->sections[k].posterior;
        groups[n++] = l->sections[k].stats;
    }
    if (l->observed) {
        groups[n++] = l->observed;
    }
    return n;
}

/* ---- the configuration as JSON */

static sal_status note_configuration(const sali_draw_layout *l, sali_netcdf *file, sal_error *err)
{
    char *text = json_dumps(l->configuration, SALI_DRAW_CONFIGURATION_STYLE);
    int groups[6], n = groups_of(l, groups);
    for (int k = 0; text && k < n; k++) {
        sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "configuration", text);
    }
    bool ok = text != NULL;
    free(text);
    return ok ? sali_netcdf_status(file, err) : sali_fail_memory(err);
}

/* ---- attributes */

static void note_maker(sali_netcdf *file, int group, const char *created)
{
    const char *const pairs[][2] = {
        { "created_at", created },
        { "creation_library", "saltus" },
        { "creation_library_version", SALI_VERSION },
        { "creation_library_language", "C" },
        { "inference_library", "saltus" },
        { "inference_library_version", SALI_VERSION },
        { "arviz_version", ARVIZ_VERSION },
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        sali_netcdf_note_text(file, group, SALI_NETCDF_GROUP, pairs[k][0], pairs[k][1]);
    }
}

sal_status sali_draw_note_origin(sali_draw_layout *l, sali_netcdf *file, const sal_model *model,
                                 const sal_run_options *o, const sali_draw_arguments *arguments,
                                 sal_error *err)
{
    static const char *const sample_dims[] = { "chain", "draw" };
    char created[40];
    time_t now = time(NULL);
    struct tm utc;
    int groups[6], n = groups_of(l, groups);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&now, &utc));
    for (int k = 0; k < n; k++) {
        note_maker(file, groups[k], created);
        if (k > 0 && groups[k] != l->observed) {
            sali_netcdf_note_list(file, groups[k], SALI_NETCDF_GROUP, "sample_dims", 2,
                                  sample_dims);
        }
        sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "model", model->name);
        sali_netcdf_note_uint(file, groups[k], SALI_NETCDF_GROUP, "seed", o->seed);
        if (o->sampler) {
            sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "sampler", o->sampler);
        }
    }
    l->configuration = sali_draw_configuration(model, o, arguments);
    return note_configuration(l, file, err);
}

sal_status sali_draw_note_run(sali_draw_layout *l, sali_netcdf *file, const sal_run *run,
                              sal_error *err)
{
    sal_run_summary s;
    sal_status status = sal_run_summarise(run, &s, err);
    if (status != SAL_OK) {
        return status;
    }
    char warning[SAL_ERROR_SIZE];
    const bool warns = sal_run_warning(&s, warning, sizeof warning);
    double steps = (double)s.warmup;
    int groups[6], n = groups_of(l, groups);
    sali_netcdf_reserve(file, SALI_DRAW_ATTRIBUTES);
    for (int k = 0; k < n; k++) {
        sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "sampler", s.sampler);
        sali_netcdf_note_double(file, groups[k], SALI_NETCDF_GROUP, "sampling_time", 1, &s.seconds);
        sali_netcdf_note_double(file, groups[k], SALI_NETCDF_GROUP, "tuning_steps", 1, &steps);
        sali_netcdf_note_uint(file, groups[k], SALI_NETCDF_GROUP, "unmoved_chains",
                              (uint64_t)s.unmoved);
        if (warns) {
            sali_netcdf_note_text(file, groups[k], SALI_NETCDF_GROUP, "warning", warning);
        }
    }
    status = sali_draw_configuration_complete(&l->configuration, run, err);
    return status ? status : note_configuration(l, file, err);
}

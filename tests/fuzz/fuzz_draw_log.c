/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "core/alloc.h"
#include "io/arrays/state_file.h"
#include "io/draws/draw_log.h"

/* The draws of a run that was killed: all that its log claims to have can be read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_draw_log *log = NULL;
    fuzz_file("a.nc.draws", data, size);
    sal_status status = sali_draw_log_open(fuzz_path("a.nc"), false, &log, &err);
    fuzz_check(status, &err);
    if (status != SAL_OK) {
        return 0;
    }
    if (log->state_size > 0) {
        struct sal_run_state state = { 0 };
        void *bytes = NULL;
        if (sali_draw_log_state(log, &bytes, &err) != SAL_OK) {
            abort();
        }
        fuzz_check(sali_state_parse("fuzz", bytes, log->state_size, &state, &err), &err);
        sali_run_state_clear(&state);
        sali_free(bytes);
    }
    sali_replay replay = sali_draw_log_replay(log);
    for (int warmup = 0; warmup < 2 && log->chains > 0; warmup++) {
        for (int64_t k = 0; k < (warmup ? replay.made_in_warmup : replay.made); k++) {
            sal_draw draw;
            int64_t sum = 0;
            if (replay.read(replay.source, warmup, k, &draw, &err) != SAL_OK) {
                abort();
            }
            for (int64_t i = 0; i < draw.chains * draw.variables; i++) {
                sum |= draw.codes[i];
            }
            (void)*(volatile int64_t *)&sum;
        }
    }
    replay.close(replay.source);
    return 0;
}

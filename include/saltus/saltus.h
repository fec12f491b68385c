/* Saltus: gradient-based MCMC on discrete spaces. The one header to include.
 *
 * What holds of every function, unless its comment says otherwise. Arrays are row-major and do not
 * overlap; pointers are not NULL, but for `err`, which receives the message of a failure. Strings
 * are UTF-8. Logarithms are natural. A sal_status is SAL_OK or one of those listed; after a failure
 * outputs are untouched. Arguments are copied, results belong to the caller. Nothing is kept
 * outside of objects: different ones may be used by different threads at once. "Threads: any" says
 * that one object may be, too, as long as nobody changes it. Time is O(1) where no cost is
 * given. */
#ifndef SALTUS_H
#define SALTUS_H

#include <saltus/ad.h>
#include <saltus/data.h>
#include <saltus/evaluate.h>
#include <saltus/figure.h>
#include <saltus/inpaint.h>
#include <saltus/io.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/report.h>
#include <saltus/sample.h>
#include <saltus/sampler.h>
#include <saltus/space.h>
#include <saltus/stats.h>
#include <saltus/status.h>
#include <saltus/train.h>
#include <saltus/trajectory.h>

#endif

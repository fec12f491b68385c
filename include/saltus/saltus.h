/* SPDX-License-Identifier: MIT */
/* Saltus: gradient-based MCMC on discrete spaces. The one header to include.
 *
 * The following holds for every function, unless its comment says otherwise. Arrays are row-major
 * and do not overlap. Pointers are not NULL, except `err`, which receives the message of a failure.
 * Strings are UTF-8. Logarithms are natural. A sal_status is SAL_OK or one of the listed codes;
 * after a failure outputs are untouched. Arguments are copied, and results belong to the caller.
 * Nothing is kept outside of objects, so different threads may use different objects at once.
 * "Threads: any" means that they may also use one object at once, as long as nobody changes it.
 * Time is O(1) where no cost is given.
 *
 * What stays the same: the functions of flat.h, and those of the other headers that take no
 * structs, are the stable binary interface within a minor version. Structs are stable as source:
 * they may gain fields, so compile your program again for a new minor version; its source needs no
 * change unless CHANGELOG.md lists one. Fields that are zero take their defaults (SAL_DEFAULTS in
 * status.h). Two headers are not part of this one and may change in any version: program.h, what
 * the program `saltus` needs besides, and figure.h, plots. */
#ifndef SALTUS_H
#define SALTUS_H

#include <saltus/ad.h>
#include <saltus/chains.h>
#include <saltus/data.h>
#include <saltus/evaluate.h>
#include <saltus/flat.h>
#include <saltus/inpaint.h>
#include <saltus/io.h>
#include <saltus/log_z.h>
#include <saltus/meeting.h>
#include <saltus/model.h>
#include <saltus/mpi.h>
#include <saltus/options.h>
#include <saltus/sample.h>
#include <saltus/sampler.h>
#include <saltus/space.h>
#include <saltus/stats.h>
#include <saltus/status.h>
#include <saltus/train.h>
#include <saltus/trajectory.h>

#endif

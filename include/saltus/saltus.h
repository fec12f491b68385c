/* Saltus: gradient-based MCMC on discrete spaces. The one header to include. */
#ifndef SALTUS_H
#define SALTUS_H

#include <saltus/ad.h>
#include <saltus/data.h>
#include <saltus/evaluate.h>
#include <saltus/figure.h>
#include <saltus/inpaint.h>
#include <saltus/io.h>
#include <saltus/model.h>
#include <saltus/sample.h>
#include <saltus/sampler.h>
#include <saltus/space.h>
#include <saltus/stats.h>
#include <saltus/status.h>
#include <saltus/train.h>

#endif

/* SPDX-License-Identifier: MIT */
#include "core/threads/shard.h"

#include <math.h>

#include <saltus/program.h>
#include "core/clock.h"

int64_t sali_shard_count(int64_t chains)
{
    if (chains < 2) {
        return chains;
    }
    int64_t shards = (chains + SALI_SHARD_TARGET - 1) / SALI_SHARD_TARGET;
    return shards + shards % 2;
}

int64_t sali_shard_first(int64_t chains, int64_t shards, int64_t k)
{
    int64_t size = chains / shards, larger = chains % shards;
    return k * size + (k < larger ? k : larger);
}

/* Seconds of work below which handing a part of it to another thread costs more than it saves. */
#define WORTH_SHARING 1e-5
/* One thread's time is known after so many seconds of work, and after so many calls unless these
 * are long: the first are slower. */
#define SETTLED 1e-3
#define FIRST 4
#define LONG 1e-2
/* What sharing loses, as when another program has the processor of a thread that all others wait
 * for, is made up by one thread that works for so many times as long: the loss is a small share.
 * So is that of calls by which one thread is measured again. */
#define PATIENCE 30
/* Seconds that may be lost before sharing is given up: threads have to wake up first. */
#define GRACE 2e-4
/* Savings of at most so many calls are set against a loss. */
#define MEMORY 16
/* The most seconds that one thread works after a loss, beside PATIENCE calls: it may have been a
 * pause of the whole process, which says nothing of threads. */
#define MOST_WAIT 10

bool sali_pace_is_alone(const sali_pace *p, double amount)
{
    const double call = p->alone * amount;
    return p->calls == 0 || (p->calls < FIRST && call < LONG) || p->wait > 0 ||
           p->shared > PATIENCE * call || call < WORTH_SHARING;
}

/* The usual time after another one was measured: near the least, as a call that the system
 * interrupts says nothing of the others. */
static double usual_time(double usual, double now)
{
    return now < usual ? now : usual + fmin(now - usual, usual) / 16;
}

void sali_pace_note(sali_pace *p, bool alone, double amount, double seconds)
{
    p->calls++;
    p->shared = alone ? 0 : p->shared + seconds;
    if (alone) {
        p->wait = p->calls == 1 ? SETTLED - seconds : p->wait - seconds;
        p->alone = p->calls == 1 ? seconds / amount : usual_time(p->alone, seconds / amount);
        return;
    }
    const double call = p->alone * amount;
    p->balance = fmin(p->balance + call - seconds, MEMORY * call);
    if (p->balance < -GRACE) {
        p->wait = fmin(-PATIENCE * p->balance, MOST_WAIT + PATIENCE * call);
        p->balance = 0;
    }
}

void sali_shard_run_paced(sali_pace *pace, double amount, int64_t shards, int threads,
                          void (*work)(void *context, int64_t shard), void *context)
{
    const bool alone = sali_pace_is_alone(pace, amount);
    const double start = sali_now();
    sal_threads_run(shards, alone ? 1 : threads, work, context);
    sali_pace_note(pace, alone, amount, sali_now() - start);
}

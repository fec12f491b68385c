/* SPDX-License-Identifier: MIT */
/* The program on several ranks: mpirun -n 4 saltus sample .. Rank 0 prints; messages of failures at
 * other ranks go to rank 0. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static struct {
    sal_comm *comm; /* NULL: the program works alone */
    FILE *heard;    /* what this rank has printed to stderr; NULL at rank 0 */
} ranks;

bool cli_on_ranks(const cli_command *command)
{
    return command == &cli_sample || command == &cli_train || command == &cli_evaluate ||
           command == &cli_compare;
}

/* At ranks other than 0: discard stdout, and keep messages in ranks.heard. False: that is not
 * possible. */
static bool be_quiet(void)
{
    fflush(NULL);
    ranks.heard = tmpfile();
    return ranks.heard && dup2(fileno(ranks.heard), STDERR_FILENO) >= 0 &&
           freopen("/dev/null", "w", stdout);
}

int cli_ranks_begin(void)
{
    sal_error err = { 0 };
    if (!sal_comm_launched(NULL)) {
        return CLI_OK;
    }
    sal_status status = sal_comm_world(&ranks.comm, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    return sal_comm_rank(ranks.comm) == 0 || be_quiet()
               ? CLI_OK
               : cli_error(SAL_ERR_IO, "rank %lld cannot make a temporary file",
                           (long long)sal_comm_rank(ranks.comm));
}

void cli_ranks_end(void)
{
    sal_comm_destroy(ranks.comm);
    ranks.comm = NULL;
}

sal_comm *cli_comm(void)
{
    return ranks.comm;
}

bool cli_is_first(void)
{
    return sal_comm_rank(ranks.comm) == 0;
}

/* A number of bytes as a text such as "1.5 kB" or "20 MB", in the buffer, which is returned. */
static char *bytes_text(double bytes, char text[32])
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    int k = 0;
    for (; bytes >= 1000 && k < 4; k++) {
        bytes /= 1000;
    }
    snprintf(text, 32, "%.3g %s", bytes, units[k]);
    return text;
}

void cli_ranks_report(int64_t n, const char *step)
{
    const sal_comm_traffic t = sal_comm_count(ranks.comm);
    const double steps = n > 0 ? (double)n : 1;
    char sent[32], received[32], each[32];
    if (sal_comm_size(ranks.comm) > 1 && cli_is_first()) {
        fprintf(stderr,
                "saltus: rank 0 of %lld: %lld exchanges, %s sent, %s received; for each of %lld "
                "%ss %.3g "
                "exchanges, %s\n",
                (long long)sal_comm_size(ranks.comm), (long long)t.calls,
                bytes_text((double)t.sent, sent), bytes_text((double)t.received, received),
                (long long)n, step, (double)t.calls / steps,
                bytes_text((double)(t.sent + t.received) / steps, each));
    }
}

bool cli_first_says(bool yes)
{
    return sal_comm_broadcast(ranks.comm, &yes, sizeof yes, NULL) == SAL_OK && yes;
}

int cli_agree(int code)
{
    sal_error err = { 0 };
    if (code != CLI_OK && ranks.heard) {
        fflush(stderr);
        rewind(ranks.heard);
        size_t n = fread(err.message, 1, sizeof err.message - 1, ranks.heard);
        err.message[n] = '\0';
    }
    const int all = (int)sal_comm_agree(ranks.comm, (sal_status)code, &err);
    if (all != CLI_OK && code == CLI_OK && cli_is_first()) {
        fputs(err.message, stderr);
    }
    return all;
}

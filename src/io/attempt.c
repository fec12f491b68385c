/* SPDX-License-Identifier: MIT */
#include "io/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

/* Signals of a crash. The program may have handlers for them, which the child must not run. */
static const int crashes[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU };

/* Limit of the child's memory, in KiB as getrusage counts. */
static double most_memory;

static double peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss : INFINITY;
}

/* Handler of SIGPROF: end the child if its memory exceeds the limit. (With a limit on the address
 * space instead, libraries would report failed allocations as damage of the file and return
 * normally; the same allocations would then be tried in the parent.) */
static void look_at_memory(int signal_number)
{
    (void)signal_number;
    if (peak_memory() > most_memory) {
        _exit(1);
    }
}

/* Check the memory after every 10 ms of processor time; `bytes` may be added to what is in use
 * now. */
static void limit_memory(int64_t bytes)
{
    const struct timeval often = { .tv_usec = 10000 };
    const struct sigaction look = { .sa_handler = look_at_memory, .sa_flags = SA_RESTART };
    sigset_t clock;
    most_memory = peak_memory() + (double)bytes / 1024;
    sigemptyset(&clock);
    sigaddset(&clock, SIGPROF);
    if (sigaction(SIGPROF, &look, NULL) != 0 || sigprocmask(SIG_UNBLOCK, &clock, NULL) != 0 ||
        setitimer(ITIMER_PROF, &(struct itimerval){ often, often }, NULL) != 0) {
        _exit(1);
    }
}

/* Run the child: set its limits, do `work`, then write one byte to `told` as proof that the work
 * ended. */
static _Noreturn void be_the_child(int told, const sali_attempt_limits *limits,
                                   void (*work)(const void *), const void *data)
{
    const rlim_t seconds = (rlim_t)limits->seconds + 1;
    const struct rlimit none = { 0, 0 }, most = { seconds, seconds };
    const int nothing = open("/dev/null", O_RDWR);
    for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++) {
        signal(crashes[k], SIG_DFL);
    }
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &most);
    limit_memory(limits->bytes);
    work(data);
    look_at_memory(SIGPROF);
    _exit(write(told, "", 1) == 1 ? 0 : 1);
}

/* Whether the child reported that its work ended. Waits for the child, so the program must not wait
 * for children itself meanwhile. */
static bool came_to_its_end(int told, pid_t pid)
{
    char byte;
    ssize_t n;
    do {
        n = read(told, &byte, 1);
    } while (n < 0 && errno == EINTR);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return n == 1;
}

sal_status sali_attempt(const char *name, const char *what, const sali_attempt_limits *limits,
                        void (*work)(const void *), const void *data, sal_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return sali_fail(err, SAL_ERR_IO, "%s: no pipe to a child process: %m", name);
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_the_child(ends[1], limits, work, data);
    }
    const int reason = errno;
    close(ends[1]);
    bool ended = pid > 0 && came_to_its_end(ends[0], pid);
    close(ends[0]);
    errno = reason;
    return pid < 0 ? sali_fail(err, SAL_ERR_IO, "%s: no child process: %m", name)
           : ended ? SAL_OK
                   : sali_fail(err, SAL_ERR_DATA, "%s: %s", name, what);
}

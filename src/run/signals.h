/*
 * Signals to cyclewise while it runs a program. They are the program's: whoever sends one means what was started.
 *
 *  - While the program runs, all that can be caught is passed on, and cyclewise goes on whatever it is: what the
 *    program makes of it shows in its end. What a terminal sends (SIGINT, SIGQUIT, SIGTSTP, ...) goes to its whole
 *    foreground group, so the program has it already.
 *  - Stops are followed from the program to cyclewise, not the other way: source_ops.read().
 *  - Once the program has ended, the first of SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU asks cyclewise to
 *    write what it knows and end; the second ends it at once. Others have nobody to go to.
 *  - cyclewise keeps what its own doing raises: SIGCHLD of the program, SIGPIPE and SIGXFSZ of its own writes (which
 *    then fail with an error), and the faults of a defect; and SIGTTOU, which those writes would meet in the
 *    background.
 */
#ifndef CYCLEWISE_RUN_SIGNALS_H
#define CYCLEWISE_RUN_SIGNALS_H

#include <signal.h>

#include "source/source.h"

/* Holds signals back while a program is started; *mask gets what the program is to begin with. */
void signals_hold(sigset_t *mask);
/* From now on they go to `source`; what was held back comes at once. `source` NULL: nothing was started. */
void signals_begin(const struct source_ops *ops, struct source *source, const sigset_t *mask);
/* The program has ended: stops and the like are cyclewise's own again. */
void signals_program_ended(void);
/* The source is about to be closed. Whoever reads what cyclewise writes may go away again (SIGPIPE). */
void signals_end(void);
/* The signal that asked cyclewise to end; 0: none did. Any thread. */
int signals_asked(void);

#endif

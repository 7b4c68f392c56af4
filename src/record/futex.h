/*
 * Sleeping on a word of shared memory until the other process changes it. Raw calls, since the plugin runs inside the
 * emulator; errno is left alone.
 */
#ifndef CYCLEWISE_RECORD_FUTEX_H
#define CYCLEWISE_RECORD_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FUTEX_CHECK_NS = 100 * 1000 * 1000 };

/* Sleeps while the word is `value`, at most FUTEX_CHECK_NS: whoever would wake us may have been killed. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	const struct timespec timeout = { .tv_nsec = FUTEX_CHECK_NS };
	int error = errno;

	syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0); /* shared memory: no FUTEX_PRIVATE_FLAG */
	errno = error;
}

static inline void futex_wake(_Atomic uint32_t *word)
{
	int error = errno;

	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = error;
}

#endif

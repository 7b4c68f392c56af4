#include "run/replay_log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "run/signals.h"

/* What a batch looks ahead is in the next one again, which a window of some batches finds. */
enum { LEVEL = 1, WINDOW_LOG = 21 };

/* Before the arrays of each batch. */
struct head {
	uint64_t n, ahead, foreseen[FORESEEN_ARRAYS]; /* the latter in bytes */
	uint32_t thread, end;
};

struct replay_log {
	int fd;
	uint64_t most, written;        /* bytes of the file */
	ZSTD_CCtx *zstd;
	char *out;                     /* [room] */
	size_t room;
	bool full;
};

struct replay_reader {
	const struct replay_log *replay_log;
	uint64_t at;                   /* in the file */
	ZSTD_DCtx *zstd;
	char *in;                      /* [room] */
	size_t room;
	ZSTD_inBuffer left;            /* of `in` */
	struct step *step;             /* [room_steps] */
	size_t room_steps;
	struct foreseen foreseen;
};

/* --- writing ----------------------------------------------------------------------------------------- */

static const char *directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/var/tmp";
}

static int failed(int code)
{
	error_errno(code, directory());
	error_remedy("the run is kept in a file there: name another directory by TMPDIR, or look at less of it with "
	             "--skip and --count");
	return -code;
}

int replay_log_new(struct replay_log **out, uint64_t most)
{
	struct replay_log *s = g_new0(struct replay_log, 1);
	char *name = g_build_filename(directory(), "cyclewise.XXXXXX", NULL);

	*out = s;
	s->most = most;
	s->fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, 0600);
	int code = errno;
	if (s->fd >= 0)
		g_unlink(name);
	g_free(name);
	if (s->fd < 0)
		return failed(code);
	s->room = ZSTD_CStreamOutSize();
	s->out = g_malloc(s->room);
	s->zstd = ZSTD_createCCtx();
	if (!s->zstd)
		return error_errno(ENOMEM, "steps of the run");
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	return 0;
}

void replay_log_free(struct replay_log *s)
{
	if (!s)
		return;
	ZSTD_freeCCtx(s->zstd);
	if (s->fd >= 0)
		close(s->fd);
	g_free(s->out);
	g_free(s);
}

static int write_all(struct replay_log *s, const char *p, size_t n)
{
	s->written += n;
	while (n) {
		ssize_t done = write(s->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(done ? errno : ENOSPC);
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int put(struct replay_log *s, const void *p, size_t n, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { p, n, 0 };
	size_t left;
	int err = 0;

	do {
		ZSTD_outBuffer out = { s->out, s->room, 0 };

		left = ZSTD_compressStream2(s->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return error_errno(ENOMEM, "steps of the run");
		err = write_all(s, s->out, out.pos);
	} while (!err && (in.pos < n || (how == ZSTD_e_end && left)));
	return err;
}

int replay_log_put(struct replay_log *s, const struct step_batch *b, const struct foreseen *f)
{
	struct head head = { .n = b->n, .ahead = b->ahead, .thread = b->thread, .end = b->end };
	int err;

	if (s->full)
		return 0;
	for (unsigned i = 0; i < FORESEEN_ARRAYS; i++)
		head.foreseen[i] = f->of[i].bytes;
	err = put(s, &head, sizeof head, ZSTD_e_continue);
	if (!err)
		err = put(s, b->step, (b->n + b->ahead) * sizeof *b->step, ZSTD_e_continue);
	for (unsigned i = 0; i < FORESEEN_ARRAYS && !err; i++)
		err = put(s, f->of[i].item, f->of[i].bytes, ZSTD_e_continue);
	s->full = s->written >= s->most;
	return err;
}

bool replay_log_full(const struct replay_log *s)
{
	return s->full;
}

int replay_log_end(struct replay_log *s)
{
	return put(s, NULL, 0, ZSTD_e_end);
}

/* --- reading ----------------------------------------------------------------------------------------- */

int replay_reader_new(struct replay_reader **out, const struct replay_log *s)
{
	struct replay_reader *r = g_new0(struct replay_reader, 1);

	*out = r;
	r->replay_log = s;
	r->room = ZSTD_DStreamInSize();
	r->in = g_malloc(r->room);
	r->left.src = r->in;
	r->zstd = ZSTD_createDCtx();
	return r->zstd ? 0 : error_errno(ENOMEM, "steps of the run");
}

void replay_reader_free(struct replay_reader *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	foreseen_fini(&r->foreseen);
	g_free(r->step);
	g_free(r->in);
	g_free(r);
}

/* More of the file into the buffer; 0 where there is no more, or -errno. */
static int refill(struct replay_reader *r)
{
	ssize_t n;

	do {
		n = pread(r->replay_log->fd, r->in, r->room, (off_t)r->at);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return failed(errno);
	r->at += (uint64_t)n;
	r->left.size = (size_t)n;
	r->left.pos = 0;
	return n > 0;
}

/* 1, 0 where the log ended before the first byte, or -errno. */
static int get(struct replay_reader *r, void *p, size_t n)
{
	ZSTD_outBuffer out = { p, n, 0 };

	while (out.pos < n) {
		size_t before = out.pos, left = ZSTD_decompressStream(r->zstd, &out, &r->left);

		if (ZSTD_isError(left))
			return error_set(EIO, directory(), "the run that was kept there cannot be read: %s",
			                 ZSTD_getErrorName(left));
		if (out.pos > before || r->left.pos < r->left.size)
			continue;
		int more = refill(r);
		if (more < 0)
			return more;
		if (!more)
			return out.pos ? error_set(EIO, directory(), "the run that was kept there ends too early") : 0;
	}
	return 1;
}

/* `more`: what the read before gave. An array of a batch that has begun must be there. */
static int get_array(struct replay_reader *r, int more, void *p, size_t bytes)
{
	if (more <= 0 || !bytes)
		return more;
	more = get(r, p, bytes);
	return more ? more : error_set(EIO, directory(), "the run that was kept there ends too early");
}

int replay_log_read(struct replay_reader *r, struct step_batch *b, const struct foreseen **f)
{
	struct foreseen *seen = &r->foreseen;
	struct head head;
	int more;

	if (signals_asked())
		return error_set(ECANCELED, "signal", "cyclewise was asked to end");
	more = get(r, &head, sizeof head);
	if (more <= 0)
		return more;
	if (head.n + head.ahead > r->room_steps) {
		r->room_steps = head.n + head.ahead;
		r->step = g_renew(struct step, r->step, r->room_steps);
	}
	more = get_array(r, more, r->step, (head.n + head.ahead) * sizeof *r->step);
	for (unsigned i = 0; i < FORESEEN_ARRAYS; i++) {
		foreseen_reserve(&seen->of[i], head.foreseen[i]);
		more = get_array(r, more, seen->of[i].item, head.foreseen[i]);
		seen->of[i].bytes = head.foreseen[i];
	}
	*b = (struct step_batch){
		.step = r->step, .n = head.n, .ahead = head.ahead, .thread = head.thread, .end = head.end
	};
	*f = seen;
	return more;
}

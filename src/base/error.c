#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct error last;

static int set(int code, const char *what, const char *why, va_list ap)
{
	char text[sizeof last.why];

	/* `what` may point into the last message: format everything before overwriting it. */
	vsnprintf(text, sizeof text, why, ap);
	if (what != last.what)
		snprintf(last.what, sizeof last.what, "%s", what);
	memcpy(last.why, text, sizeof text);
	last.remedy[0] = '\0';
	last.status = EXIT_FAILED;
	return -code;
}

int error_set(int code, const char *what, const char *why, ...)
{
	va_list ap;
	va_start(ap, why);
	int ret = set(code, what, why, ap);
	va_end(ap);
	return ret;
}

int error_errno(int code, const char *what)
{
	return error_set(code, what, "%s", strerror(code));
}

void error_remedy(const char *remedy, ...)
{
	va_list ap;
	va_start(ap, remedy);
	vsnprintf(last.remedy, sizeof last.remedy, remedy, ap);
	va_end(ap);
}

void error_status(int status)
{
	last.status = status;
}

const struct error *error_get(void)
{
	return &last;
}

void error_put(const struct error *e)
{
	last = *e;
}

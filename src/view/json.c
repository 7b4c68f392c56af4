#include "view/json.h"

#include <assert.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shown.h"
#include "view/number.h"

void json_init(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out, .empty = true, .indented = 2 };
}

void json_fini(struct json *j)
{
	assert(j->depth == 0);
	fputc('\n', j->out);
}

static void new_line(struct json *j)
{
	if (j->depth && j->depth <= j->indented)
		fprintf(j->out, "\n%*s", (int)j->depth * 2, "");
	else if (j->depth && !j->empty)
		fputc(' ', j->out);
}

static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* By its UTF-16 units. */
static void escaped(struct json *j, gunichar c)
{
	if (c >= 0x10000)
		fprintf(j->out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
	else
		fprintf(j->out, "\\u%04x", c);
}

static void quoted(struct json *j, const char *s)
{
	fputc('"', j->out);
	while (*s) {
		const char *end = s;
		gunichar c;

		while (plain((unsigned char)*end))
			end++;
		if (end > s) {
			fwrite(s, 1, (size_t)(end - s), j->out);
			s = end;
			continue;
		}
		c = g_utf8_get_char_validated(s, -1);
		if (c >= (gunichar)-2) {
			fputs("\\ufffd", j->out);
			s++;
			continue;
		}
		end = g_utf8_next_char(s);
		if (c == '"' || c == '\\')
			fprintf(j->out, "\\%c", (int)c);
		else if (!shown_plain(c))
			escaped(j, c);
		else
			fwrite(s, 1, (size_t)(end - s), j->out);
		s = end;
	}
	fputc('"', j->out);
}

static void element(struct json *j, const char *key)
{
	if (!j->empty)
		fputc(',', j->out);
	new_line(j);
	j->empty = false;
	if (key) {
		quoted(j, key);
		fputs(": ", j->out);
	}
}

static void open(struct json *j, const char *key, char bracket)
{
	element(j, key);
	fputc(bracket, j->out);
	j->depth++;
	j->empty = true;
}

static void shut(struct json *j, char bracket)
{
	bool empty = j->empty;

	assert(j->depth);
	j->depth--;
	if (!empty && j->depth < j->indented)
		fprintf(j->out, "\n%*s", (int)j->depth * 2, "");
	fputc(bracket, j->out);
	j->empty = false;
}

void json_object(struct json *j, const char *key)
{
	open(j, key, '{');
}

void json_array(struct json *j, const char *key)
{
	open(j, key, '[');
}

void json_end_object(struct json *j)
{
	shut(j, '}');
}

void json_end_array(struct json *j)
{
	shut(j, ']');
}

void json_string(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	element(j, key);
	quoted(j, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	element(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	element(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	element(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	element(j, key);
	fputs("null", j->out);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	element(j, key);
	fprintf(j->out, "\"0x%" PRIx64 "\"", value);
}

void json_ratio(struct json *j, const char *key, uint64_t num, uint64_t den)
{
	char buf[NUMBER_SIZE];

	if (!den) {
		json_null(j, key);
		return;
	}
	element(j, key);
	fputs(number_trimmed(buf, num, den), j->out);
}

void json_real(struct json *j, const char *key, double value)
{
	char buf[NUMBER_SIZE];

	if (isnan(value)) {
		json_null(j, key);
		return;
	}
	uint64_t millionths = (uint64_t)llround(fabs(value) * 1e6);
	element(j, key);
	fprintf(j->out, "%s%s", value < 0 && millionths ? "-" : "", number_trimmed(buf, millionths, 1000000));
}

void json_share(struct json *j, const char *key, double value)
{
	const uint64_t one = UINT64_C(1000000000000);
	char buf[NUMBER_SIZE];

	if (!(value >= 0 && value <= 1)) {
		json_null(j, key);
		return;
	}
	uint64_t parts = (uint64_t)llround(value * (double)one);
	int n = snprintf(buf, sizeof buf, "%" PRIu64 ".%012" PRIu64, parts / one, parts % one);
	while (buf[n - 1] == '0')
		n--;
	if (buf[n - 1] == '.')
		n--;
	element(j, key);
	fwrite(buf, 1, (size_t)n, j->out);
}

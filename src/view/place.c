#include "view/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/head.h"
#include "view/stack.h"

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *place_function(const struct query_function *f, bool module, char buf[PLACE_SIZE])
{
	const char *symbol = f->symbol ? f->symbol : "(no symbol)";

	if (!f->module)
		snprintf(buf, PLACE_SIZE, "%s%s", f->symbol ? symbol : "(no name)", module ? "  [JIT code]" : "");
	else if (module)
		snprintf(buf, PLACE_SIZE, "%s  [%s]", symbol, last_name(f->module));
	else
		snprintf(buf, PLACE_SIZE, "%s", symbol);
	return buf;
}

char *place_line(const char *file, uint32_t line, char buf[PLACE_SIZE])
{
	snprintf(buf, PLACE_SIZE, "%s:%" PRIu32, file, line);
	return buf;
}

char *place_insn(const struct query_insn *in, char buf[PLACE_SIZE])
{
	int n;

	if (in->function->symbol)
		n = snprintf(buf, PLACE_SIZE / 2, "%s+0x%" PRIx64, in->function->symbol, in->offset);
	else
		n = snprintf(buf, PLACE_SIZE / 2, "0x%" PRIx64 " [%s]", in->address,
		             in->module ? last_name(in->module) : "JIT code");
	if (n >= PLACE_SIZE / 2)
		n = PLACE_SIZE / 2 - 1;
	if (in->file)
		snprintf(buf + n, (size_t)(PLACE_SIZE - n), "  %s:%" PRIu32, last_name(in->file), in->line);
	return buf;
}

void line_json(struct json *j, uint32_t line)
{
	if (line)
		json_uint(j, "line", line);
	else
		json_null(j, "line");
}

void place_json(struct json *j, const struct query_insn *in)
{
	json_string(j, "module", in->module);
	json_hex(j, "address", in->address);
	json_string(j, "symbol", in->function->symbol);
	json_uint(j, "offset", in->offset);
	json_string(j, "file", in->file);
	line_json(j, in->line);
}

void function_json(struct json *j, const struct view_request *r, const struct query_function *f)
{
	json_object(j, NULL);
	json_string(j, "symbol", f->symbol);
	json_string(j, "linkage", f->linkage);
	json_string(j, "module", f->module);
	json_string(j, "build_id", f->build_id);
	json_string(j, "file", f->file);
	line_json(j, f->line);
	cycles_json(j, "cycles", r, f->stack.units);
	stack_json(j, "stack", &f->stack, query_run(r->query)->units_per_cycle);
	json_end_object(j);
}

void frames_json(struct json *j, const char *key, const struct query_frame *frame, uint32_t nr)
{
	json_array(j, key);
	for (uint32_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_string(j, "symbol", frame[i].symbol);
		json_string(j, "file", frame[i].file);
		line_json(j, frame[i].line);
		json_end_object(j);
	}
	json_end_array(j);
}

void insn_json(struct json *j, const struct view_request *r, const struct query_insn *in)
{
	insn_json_open(j, r, in);
	json_end_object(j);
}

void insn_json_open(struct json *j, const struct view_request *r, const struct query_insn *in)
{
	json_object(j, NULL);
	place_json(j, in);
	frames_json(j, "inlined_from", in->inlined, in->nr_inlined);
	json_string(j, "disassembly", in->disassembly);
	json_uint(j, "executions", in->executions);
	cycles_json(j, "cycles", r, in->stack.units);
	stack_json(j, "stack", &in->stack, query_run(r->query)->units_per_cycle);
}

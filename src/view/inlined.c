#include "view/inlined.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/head.h"
#include "view/stack.h"

static const char *last_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Who called: the function inlined around it, or the one that holds the code. */
static const char *caller(const struct query_copy *copy, uint32_t call)
{
	const char *symbol = call + 1 < copy->nr_chain ? copy->chain[call + 1].symbol : copy->function->symbol;

	return symbol ? symbol : "(no symbol)";
}

char *inlined_calls(const struct query_copy *copy, char buf[PLACE_SIZE])
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < copy->nr_chain && at < PLACE_SIZE; i++) {
		const struct query_frame *call = &copy->chain[i];
		char where[64] = "an unknown line";

		if (call->file)
			snprintf(where, sizeof where, "%.50s:%" PRIu32, last_name(call->file), call->line);
		at += (size_t)snprintf(buf + at, PLACE_SIZE - at, "%scalled at %s in %s", i ? ", " : "", where,
		                       caller(copy, i));
	}
	return buf;
}

static void members(struct json *j, const struct view_request *r, const struct query_inlined *f)
{
	json_string(j, "symbol", f->symbol);
	json_string(j, "linkage", f->linkage);
	json_string(j, "module", f->module);
	json_string(j, "build_id", f->build_id);
	json_string(j, "file", f->file);
	line_json(j, f->line);
	cycles_json(j, "cycles", r, f->stack.units);
	stack_json(j, "stack", &f->stack, query_run(r->query)->units_per_cycle);
}

void inlined_function_json(struct json *j, const struct view_request *r, const struct query_inlined *f)
{
	json_object(j, NULL);
	members(j, r, f);
	json_bool(j, "inlined", true);
	json_end_object(j);
}

static void copy_json(struct json *j, const struct view_request *r, const struct query_copy *copy)
{
	json_object(j, NULL);
	json_string(j, "symbol", copy->function->symbol);
	json_string(j, "linkage", copy->function->linkage);
	frames_json(j, "calls", copy->chain, copy->nr_chain);
	json_uint(j, "instructions", copy->nr_insns);
	json_uint(j, "executions", copy->executions);
	cycles_json(j, "cycles", r, copy->stack.units);
	stack_json(j, "stack", &copy->stack, query_run(r->query)->units_per_cycle);
	json_end_object(j);
}

void inlined_json_open(struct json *j, const struct view_request *r, const struct query_inlined *f)
{
	json_object(j, NULL);
	members(j, r, f);
	json_array(j, "copies");
	for (uint32_t i = 0; i < f->nr_copies && (!r->limit || i < r->limit); i++)
		copy_json(j, r, &f->copy[i]);
	json_end_array(j);
}

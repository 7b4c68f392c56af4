/*
 * The storage each profiling method's hardware needs on a core.
 */
#include <inttypes.h>

#include "method/storage.h"
#include "view/head.h"

static int text(struct text *t, const struct view_request *r)
{
	struct storage s[STORAGE_METHODS];

	storage_of(r->core, s);
	text_heading(t, "Bytes that each method's hardware takes on %s", r->core->name);
	for (unsigned i = 0; i < STORAGE_METHODS; i++) {
		fprintf(t->out, "%-8s %6" PRIu64 "\n", s[i].method, s[i].bytes);
		for (unsigned k = 0; k < s[i].nr_parts && s[i].nr_parts > 1; k++)
			fprintf(t->out, "%15" PRIu64 "  %s: %" PRIu64 " x %" PRIu64 " bits\n", s[i].part[k].bytes,
			        s[i].part[k].where, s[i].part[k].entries, s[i].part[k].bits);
	}
	text_fill(
		t, 0, 0,
		"TEA and NCI-TEA need TIP's, or what NCI has of it, besides. Methods that tag an instruction keep its "
		"events alone; latencies and addresses that real ones report come on top. FMT and sFMT have a row for "
	        "each branch in flight; their paper does not say how wide "
		"a counter is: here it counts as far as an access to memory takes. The totals are in performance "
	        "counters.");
	return 0;
}

static int json(struct json *j, const struct view_request *r)
{
	struct storage s[STORAGE_METHODS];

	storage_of(r->core, s);
	json_object(j, NULL);
	head_json_described(j, r->version, r->core->name);
	json_array(j, "storage");
	for (unsigned i = 0; i < STORAGE_METHODS; i++) {
		json_object(j, NULL);
		json_string(j, "method", s[i].method);
		json_uint(j, "bytes", s[i].bytes);
		json_array(j, "parts");
		for (unsigned k = 0; k < s[i].nr_parts; k++) {
			json_object(j, NULL);
			json_string(j, "where", s[i].part[k].where);
			json_uint(j, "entries", s[i].part[k].entries);
			json_uint(j, "bits", s[i].part[k].bits);
			json_uint(j, "bytes", s[i].part[k].bytes);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	return 0;
}

const struct view view_cost = {
	.name = "cost",
	.help = "the storage that each profiling method's hardware needs on a core",
	.text = text,
	.json = json,
};

/* The registry of methods, and the names of signatures. */
#include "method/method.h"

#include <assert.h>
#include <string.h>

#include "method/list.h"

#define X(name) extern const struct method method_##name;
METHODS(X)
#undef X

#define X(name) &method_##name,
const struct method *const method_list[] = { METHODS(X) NULL };
#undef X

const struct method *method_find(const char *name)
{
	for (const struct method *const *m = method_list; *m; m++)
		if (!strcmp((*m)->name, name))
			return *m;
	return NULL;
}

bool method_in(const struct method *m, enum method_set set)
{
	bool in = !(m->set & ~set);

	for (const struct method *const *other = method_list; *other && in; other++)
		in = (*other)->covers != m || (*other)->set & ~set;
	return in;
}

static const char *const events[NR_PSV] = {
	"DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC",
};

const char *psv_event(unsigned bit)
{
	assert(bit < NR_PSV);
	return events[bit];
}

const char *psv_name(uint16_t psv, char *buf)
{
	char *to = buf;

	assert(psv < 1 << NR_PSV);
	if (!psv)
		return strcpy(buf, "Base");
	for (unsigned bit = 0; bit < NR_PSV; bit++) {
		if (!(psv >> bit & 1))
			continue;
		if (to != buf)
			*to++ = '+';
		to = stpcpy(to, events[bit]);
	}
	return buf;
}

void method_forgets(void *state, void *lane)
{
}

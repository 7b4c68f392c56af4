/* The list of what was found; findings.h says what for. */
#include "calibrate/findings.h"

#include <assert.h>
#include <glib.h>
#include <math.h>
#include <string.h>

struct findings {
	const struct core_desc *parent;
	GPtrArray *list;           /* struct finding * */
};

static void finding_free(gpointer p)
{
	struct finding *f = p;

	g_free(f->name);
	g_free(f->param);
	g_free(f->note);
	g_free(f);
}

struct findings *findings_new(const struct core_desc *parent)
{
	struct findings *f = g_new0(struct findings, 1);

	f->parent = parent;
	f->list = g_ptr_array_new_with_free_func(finding_free);
	return f;
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	g_ptr_array_free(f->list, TRUE);
	g_free(f);
}

static const struct core_param *param_of(const char *name)
{
	for (unsigned i = 0; i < nr_core_params; i++)
		if (!strcmp(core_params[i].name, name))
			return &core_params[i];
	assert(!"a parameter of this name");
	return NULL;
}

/* One more reason behind the note there is. */
static void add_reason(struct finding *found, char *reason)
{
	char *note = found->note;

	found->left = true;
	found->note = note ? g_strconcat(note, "; ", reason, NULL) : g_strdup(reason);
	g_free(note);
	g_free(reason);
}

void findings_add(struct findings *f, const char *name, const char *unit, struct estimate e, const char *param, double value,
                  const char *note, ...)
{
	struct finding *found = g_new0(struct finding, 1);
	va_list ap;

	found->name = g_strdup(name);
	found->unit = unit;
	found->estimate = e;
	found->param = g_strdup(param);
	va_start(ap, note);
	found->note = note ? g_strdup_vprintf(note, ap) : NULL;
	va_end(ap);
	if (param) {
		const struct core_param *p = param_of(param);

		if (e.noisy)
			add_reason(found, g_strdup("too noisy, left to the parent"));
		else if (!(round(value) >= p->min && round(value) <= p->max))
			add_reason(found, g_strdup_printf("%.0f is outside %d to %d, left to the parent", value, p->min, p->max));
		else
			found->value = (int32_t)lround(value);
	}
	g_ptr_array_add(f->list, found);
}

void findings_leave(struct findings *f, const char *name, const char *param, const char *why, ...)
{
	struct finding *found = g_new0(struct finding, 1);
	va_list ap;

	found->name = g_strdup(name);
	found->unit = "";
	found->estimate.noisy = true;
	found->param = g_strdup(param);
	found->left = true;
	va_start(ap, why);
	found->note = g_strdup_vprintf(why, ap);
	va_end(ap);
	g_ptr_array_add(f->list, found);
}

size_t findings_count(const struct findings *f)
{
	return f->list->len;
}

const struct finding *findings_at(const struct findings *f, size_t i)
{
	return g_ptr_array_index(f->list, i);
}

const struct finding *findings_of(const struct findings *f, const char *param)
{
	for (size_t i = 0; i < findings_count(f); i++) {
		const struct finding *found = findings_at(f, i);

		if (found->param && !found->left && !strcmp(found->param, param))
			return found;
	}
	return NULL;
}

int32_t findings_param(const struct findings *f, const char *param)
{
	const struct finding *found = findings_of(f, param);
	int32_t value;

	if (found)
		return found->value;
	memcpy(&value, (const char *)f->parent + param_of(param)->offset, sizeof value);
	return value;
}

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

static int32_t parents(const struct findings *f, const struct core_param *p)
{
	int32_t value;

	memcpy(&value, (const char *)f->parent + p->offset, sizeof value);
	return value;
}

/* One more remark behind the note there is. */
static void add_note(struct finding *found, char *remark)
{
	char *note = found->note;

	found->note = note ? g_strconcat(note, "; ", remark, NULL) : g_strdup(remark);
	g_free(note);
	g_free(remark);
}

static void leave(struct finding *found, char *reason)
{
	found->left = true;
	add_note(found, reason);
}

/* Makes an integer of `value`, which the spread of the estimate is about. */
static void settle(struct findings *f, struct finding *found, double value)
{
	const struct core_param *p = param_of(found->param);
	struct estimate e = estimate_minus(found->estimate, estimate_exact(found->estimate.value - value));
	double settled = estimate_round(e, parents(f, p));

	if (!(settled >= p->min && settled <= p->max)) {
		leave(found, g_strdup_printf("%.0f is outside %d to %d, left to the parent", value, p->min, p->max));
		return;
	}
	found->value = (int32_t)lround(settled);
	if (settled != round(e.value))
		add_note(found,
		         g_strdup_printf("halfway between %.0f and %.0f: the parent's", floor(e.value), ceil(e.value)));
}

void findings_add(struct findings *f, const char *name, const char *unit, struct estimate e, const char *param,
                  double value, const char *note, ...)
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
	if (param && e.noisy)
		leave(found, g_strdup("too noisy, left to the parent"));
	else if (param)
		settle(f, found, value);
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

	return found ? found->value : parents(f, param_of(param));
}

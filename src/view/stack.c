#include "view/stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "method/method.h"
#include "view/number.h"

struct look {
	char letter;
	const char *sgr;           /* colour */
	const char *meaning;
};

/* Bit i's is looks[i + 1]. Ref: TEA §3, table 1. */
static const struct look looks[NR_PSV + 1] = {
	{ '=', "32", "no event: its own work, and waiting for results of other instructions" },
	{ 'i', "35", "DR-L1: its code was not in the L1 instruction cache" },
	{ 'p', "1;35", "DR-TLB: its code's page was not in the L1 instruction TLB" },
	{ 'q', "34", "DR-SQ: a store that could not enter the full store queue" },
	{ 'b', "33", "FL-MB: a mispredicted branch; what followed was fetched anew" },
	{ 'x', "1;33", "FL-EX: it trapped, serialised or flushed the pipeline" },
	{ 'o', "1;34", "FL-MO: a load that ran before an older store to its address, and was run again" },
	{ 'c', "36", "ST-L1: its data was not in the L1 data cache" },
	{ 't', "1;36", "ST-TLB: its data's page was not in the L1 data TLB" },
	{ 'M', "31", "ST-LLC: its data came from memory" },
};

static const struct look *look_of(uint16_t signature)
{
	unsigned i = 0;

	while (i < NR_PSV && signature >> i)
		i++;
	return &looks[i];
}

void stack_add(struct stack_sum *sum, const struct stack *s)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		unsigned signature = s->share[i].signature & ((1u << NR_PSV) - 1);

		sum->units[signature] += s->share[i].units;
		sum->executions[signature] += s->share[i].executions;
		sum->total += s->share[i].units;
	}
}

static int by_units(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->units != y->units)
		return x->units < y->units ? 1 : -1;
	return x->signature - y->signature;
}

size_t stack_ranked(const struct stack_sum *sum, struct share *out)
{
	size_t n = 0;

	for (unsigned i = 0; i < 1 << NR_PSV; i++)
		if (sum->units[i])
			out[n++] = (struct share){
				.units = sum->units[i], .executions = sum->executions[i], .signature = (uint16_t)i,
			};
	qsort(out, n, sizeof *out, by_units);
	return n;
}

uint16_t stack_dominant(const struct stack *s)
{
	uint64_t most = 0;
	uint16_t signature = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->share[i].units > most) {
			most = s->share[i].units;
			signature = s->share[i].signature;
		}
	return signature;
}

void stack_letters(struct text *t, uint16_t signature, unsigned columns)
{
	const struct look *l = look_of(signature);

	if (!columns)
		return;
	text_style(t, l->sgr);
	for (unsigned i = 0; i < columns; i++)
		fputc(l->letter, t->out);
	text_style(t, NULL);
}

void stack_bar(struct text *t, const struct stack *s, uint64_t full, unsigned width)
{
	uint64_t sum = 0;
	unsigned at = 0;

	/* Each component ends at the rounded end of the sum so far: the bar's length has no rounding to add up. */
	for (uint32_t i = 0; full && i < s->nr; i++) {
		unsigned end;

		sum += s->share[i].units;
		end = (unsigned)(((unsigned __int128)sum * width * 2 + full) / ((unsigned __int128)full * 2));
		end = end > width ? width : end;
		stack_letters(t, s->share[i].signature, end - at);
		at = end;
	}
	fprintf(t->out, "%*s", (int)(width - at), "");
}

void stack_legend(struct text *t, const struct stack_sum *seen)
{
	bool shown[NR_PSV + 1] = { false };
	bool several = false;

	for (unsigned i = 0; i < 1 << NR_PSV; i++)
		if (seen->units[i]) {
			shown[look_of((uint16_t)i) - looks] = true;
			for (unsigned b = 0; b < NR_PSV; b++)
				if (i >> b & 1)
					shown[b + 1] = true;
			several |= (i & (i - 1)) != 0;
		}
	for (unsigned i = 0; i <= NR_PSV; i++)
		if (shown[i]) {
			fputs("  ", t->out);
			text_style(t, looks[i].sgr);
			fputc(looks[i].letter, t->out);
			text_style(t, NULL);
			fputs("  ", t->out);
			if (!i)
				fputs("Base: ", t->out);
			text_fill(t, i ? 5 : 11, 5, looks[i].meaning);
		}
	if (several) {
		fputs("  +  ", t->out);
		text_fill(t, 5, 5,
		          "several events in one execution are a component of their own; bars draw it with the last "
		          "one's letter");
	}
}

void stack_json(struct json *j, const char *key, const struct stack *s, uint64_t units_per_cycle)
{
	char name[64];

	json_object(j, key);
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->share[i].units)
			json_ratio(j, psv_name(s->share[i].signature, name), s->share[i].units, units_per_cycle);
	json_end_object(j);
}

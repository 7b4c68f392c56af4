#include "core/predict/tage.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/predict/counter.h"

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

struct table {
	uint64_t entries, history, tag, ways;
};

/* "entries/history/tag bits[/ways]" */
static int parse_table(const char *what, const char *text, unsigned longest, struct table *t)
{
	char **part = g_strsplit(text, "/", -1);
	guint parts = g_strv_length(part);
	int ret = 0;

	t->ways = 1;
	if (parts < 3 || parts > 4 || !g_ascii_string_to_unsigned(part[0], 10, 16, 65536, &t->entries, NULL) ||
	    !power_of_two(t->entries) || !g_ascii_string_to_unsigned(part[1], 10, 1, longest, &t->history, NULL) ||
	    !g_ascii_string_to_unsigned(part[2], 10, 4, 16, &t->tag, NULL) ||
	    (parts == 4 && !g_ascii_string_to_unsigned(part[3], 10, 1, TAGE_WAYS, &t->ways, NULL)) ||
	    !power_of_two(t->ways)) {
		ret = error_set(EINVAL, what, "branch.tage: '%s' is not a table", text);
		error_remedy("a table is ENTRIES/HISTORY/TAGBITS or ENTRIES/HISTORY/TAGBITS/WAYS: a power of two from "
		             "16 to 65536, "
		             "1 to %u, 4 to 16, 1, 2, 4 or 8",
		             longest);
	}
	g_strfreev(part);
	return ret;
}

static int parse_tables(struct tage *t, const char *what, const char *tables, struct history_shape *shape)
{
	char **table = g_strsplit_set(tables, " ,\t", -1);
	uint64_t longest = 0;
	int ret = 0;

	for (char **at = table; *at && !ret; at++) {
		unsigned i = t->nr_tables;
		struct table is;

		if (!**at)
			continue;
		if (i == TAGE_TABLES) {
			ret = error_set(EINVAL, what, "branch.tage: over %d tables", TAGE_TABLES);
			break;
		}
		ret = parse_table(what, *at, history_longest(shape->kind), &is);
		if (!ret && is.history <= longest)
			ret = error_set(EINVAL, what, "branch.tage: the histories do not grow at '%s'", *at);
		if (ret)
			break;
		longest = is.history;
		t->first[i] = t->nr_entries;
		t->mask[i] = (uint32_t)(is.entries - is.ways);
		t->ways[i] = (uint8_t)is.ways;
		t->all_ways = i == 0 || t->all_ways == is.ways ? (uint8_t)is.ways : 0;
		t->tag_mask[i] = (1u << is.tag) - 1;
		history_add_length(shape, (unsigned)is.history);
		t->nr_entries += (uint32_t)is.entries;
		t->nr_tables++;
	}
	if (!ret && !t->nr_tables) {
		ret = error_set(EINVAL, what, "branch.tage names no tables");
		error_remedy("set branch.predictor to bimodal, or name tables, such as 1024/8/9 1024/32/11");
	}
	g_strfreev(table);
	return ret;
}

int tage_init(struct tage *t, const char *what, const char *tables, uint32_t base_entries, unsigned hysteresis_shift,
	struct history_shape *shape)
{
	int ret;

	assert(!shape->nr);
	*t = (struct tage){ .random = 1 };
	ret = parse_tables(t, what, tables, shape);
	if (ret)
		return ret;
	t->entry = calloc(t->nr_entries, sizeof *t->entry);
	ret = base_init(&t->base, base_entries, hysteresis_shift);
	t->tag = calloc(t->nr_entries, sizeof *t->tag);
	shape->kept = t->nr_tables < HISTORY_KEPT ? t->nr_tables : HISTORY_KEPT;
	return t->entry && t->tag ? ret : -ENOMEM;
}

void tage_fini(struct tage *t)
{
	free(t->entry);
	free(t->tag);
	base_fini(&t->base);
}

static bool weak(int8_t counter)
{
	return counter == 0 || counter == -1;
}

/*
 * Index and tag in all tables, by shifts and XOR: those are vector instructions everywhere, a multiplication is not.
 * Only the address is multiplied, once for all.
 */
static void hash(const struct tage *restrict t, const struct history *restrict h,
                 const struct history_shape *restrict s, uint64_t pc, struct tage_lookup *restrict l)
{
	uint32_t address = (uint32_t)((pc ^ pc >> 32) * 0x9e3779b97f4a7c15u >> 32), path = h->path;

	for (unsigned i = 0; i < TAGE_TABLES; i++) {
		uint32_t key = h->fold[i] ^ (path & s->path[i]) << (HISTORY_FOLD - HISTORY_PATH);
		uint32_t index = key ^ key >> 10 ^ key >> 20 ^ address;

		l->index[i] = t->first[i] + (index & t->mask[i]);
		l->tag[i] = (key ^ key >> 13 ^ key << 5 ^ address >> 16) & t->tag_mask[i];
	}
}

enum { NO_WAY = TAGE_WAYS };

/* The first way of a set that has the tag, or NO_WAY. */
static inline unsigned match_ways(const uint16_t *set, unsigned ways, uint16_t tag)
{
	for (unsigned w = 0; w < ways; w++)
		if (set[w] == tag)
			return w;
	return NO_WAY;
}

/*
 * Which of four, the Skylake family's, are equal, in one word: each that is, up to the first, leaves 16 bits of 0, of
 * which the borrow sets the highest.
 */
static inline uint64_t equal_of_four(const uint16_t *set, uint16_t tag)
{
	const uint64_t each = 0x0001000100010001u;
	uint64_t differ;

	memcpy(&differ, set, sizeof differ);
	differ ^= tag * each;
	return (differ - each) & ~differ & 0x8000 * each;
}

/*
 * Index and tag in all tables, and which of them match, as a bit set. A tag of 0 matches entries never written, too:
 * they predict as one just allocated.
 */
static uint32_t match(const struct tage *t, const struct history *h, const struct history_shape *s, uint64_t pc,
	struct tage_lookup *l)
{
	uint32_t matches = 0;

	hash(t, h, s, pc, l);
	for (unsigned i = 0; i < t->nr_tables; i++) {
		const uint16_t *set = &t->tag[l->index[i]];

		if (t->ways[i] == 1) {
			matches |= (uint32_t)(*set == l->tag[i]) << i;
			continue;
		}
		unsigned way = match_ways(set, t->ways[i], (uint16_t)l->tag[i]);
		if (way == NO_WAY)
			continue;
		l->index[i] += way;
		matches |= 1u << i;
	}
	return matches;
}

struct place {
	uint32_t index;                /* the entry that matches, else the first of its set */
	uint16_t tag;
	bool matches;
};

/* Where a branch is in table `i`, which has `ways`, by the register of the path; `address`: history_address(). */
static inline struct place place_taken(const struct tage *t, const struct history *h, const struct history_shape *s,
                                       unsigned i, unsigned ways, uint64_t address)
{
	uint64_t key = history_mix(history_path(h, s, i), address);
	struct place p = {
		.index = t->first[i] + ((uint32_t)(key >> 48) & t->mask[i]),
		.tag = (uint16_t)((uint32_t)(key >> 32) & t->tag_mask[i]),
	};
	const uint16_t *set = &t->tag[p.index];

	if (ways == 1) {
		p.matches = *set == p.tag;
	} else if (ways == 4) {
		uint64_t equal = equal_of_four(set, p.tag);

		p.matches = equal;
		/* The first of none is the first of all: without a branch, which would be foreseen badly. */
		p.index += (unsigned)__builtin_ctzll(equal >> 15 | !equal) / 16;
	} else {
		unsigned way = match_ways(set, ways, p.tag);

		p.matches = way != NO_WAY;
		p.index += way % NO_WAY;
	}
	return p;
}

/* As match(), for the register of the path. `ways`: all_ways, constant for the common ones. */
static inline __attribute__((always_inline)) uint32_t match_taken(const struct tage *t, const struct history *h,
                                                                  const struct history_shape *s, uint64_t pc,
                                                                  const unsigned ways, struct tage_lookup *l)
{
	uint64_t address = history_address(pc);
	uint32_t matches = 0;

	for (unsigned i = 0; i < t->nr_tables; i++) {
		struct place p = place_taken(t, h, s, i, ways ? ways : t->ways[i], address);

		l->tag[i] = p.tag;
		l->index[i] = p.index;
		matches |= (uint32_t)p.matches << i;
	}
	return matches;
}

static inline uint32_t find(const struct tage *t, const struct history *h, const struct history_shape *s, uint64_t pc,
                            struct tage_lookup *l)
{
	if (s->kind == HISTORY_DIRECTIONS)
		return match(t, h, s, pc, l);
	if (t->all_ways == 4)
		return match_taken(t, h, s, pc, 4, l);
	return t->all_ways == 1 ? match_taken(t, h, s, pc, 1, l) : match_taken(t, h, s, pc, 0, l);
}

bool tage_guess(const struct tage *t, const struct history *h, const struct history_shape *s, uint64_t pc)
{
	uint64_t address = history_address(pc);
	bool alternate = false;

	if (s->kind == HISTORY_DIRECTIONS) {
		struct tage_lookup l;

		return tage_predict(t, h, s, pc, &l);
	}
	for (unsigned i = t->nr_tables; i--;) {
		struct place p = place_taken(t, h, s, i, t->ways[i], address);

		if (!p.matches)
			continue;
		int8_t counter = t->entry[p.index].counter;

		if (alternate || !weak(counter) || t->use_alternate[pc % TAGE_ALTERNATES] < 0)
			return counter >= 0;
		alternate = true;
	}
	return base_predict(&t->base, pc);
}

bool tage_predict(const struct tage *t, const struct history *h, const struct history_shape *s, uint64_t pc,
	struct tage_lookup *l)
{
	uint32_t matches = find(t, h, s, pc, l);

	l->provider = l->alternate = -1;
	l->provider_taken = l->alternate_taken = base_predict(&t->base, pc);
	l->weak = false;
	l->taken = l->provider_taken;
	if (!matches)
		return l->taken;

	l->provider = (int8_t)(31 - __builtin_clz(matches));
	matches &= ~(1u << l->provider);
	if (matches) {
		l->alternate = (int8_t)(31 - __builtin_clz(matches));
		l->alternate_taken = t->entry[l->index[l->alternate]].counter >= 0;
	}
	int8_t counter = t->entry[l->index[l->provider]].counter;

	l->provider_taken = counter >= 0;
	l->weak = weak(counter);
	l->taken = l->weak && t->use_alternate[pc % TAGE_ALTERNATES] >= 0 ? l->alternate_taken : l->provider_taken;
	return l->taken;
}

/* Marsaglia's xorshift: the same sequence on every run. */
static uint32_t next_random(struct tage *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return t->random;
}

static void age(struct tage *t)
{
	for (uint32_t i = 0; i < t->nr_entries; i++)
		t->entry[i].useful >>= 1;
	t->tick = 0;
}

/*
 * Takes an entry in a table beyond the provider's that nobody finds useful; skips one table at times, so that not all
 * go to the first.
 */
static void allocate(struct tage *t, const struct tage_lookup *l, bool taken)
{
	unsigned refused = 0, taken_up = 0, i = (unsigned)(l->provider + 1);

	i += i + 1 < t->nr_tables && !(next_random(t) & 3);
	for (; i < t->nr_tables && !taken_up; i++) {
		uint32_t at = l->index[i], end = at + t->ways[i];

		while (at < end && t->entry[at].useful)
			at++;
		if (at == end) {
			refused++;
			continue;
		}
		t->tag[at] = (uint16_t)l->tag[i];
		t->entry[at] = (struct tage_entry){ .counter = taken ? 0 : -1 };
		taken_up = 1;
	}
	t->tick = t->tick + refused > taken_up ? t->tick + refused - taken_up : 0;
	if (t->tick >= TAGE_TICK_MAX)
		age(t);
}

/* Table `i`; -1: the base predictor. */
static void train_one(struct tage *t, uint64_t pc, const struct tage_lookup *l, int i, bool taken)
{
	if (i < 0)
		base_train(&t->base, pc, taken);
	else
		counter_step(&t->entry[l->index[i]].counter, taken, TAGE_COUNTER_MAX);
}

void tage_train(struct tage *t, uint64_t pc, const struct tage_lookup *l, bool taken)
{
	if (l->provider < 0) {
		base_train(&t->base, pc, taken);
	} else {
		struct tage_entry *e = &t->entry[l->index[l->provider]];

		if (l->weak && l->provider_taken != l->alternate_taken)
			counter_step(&t->use_alternate[pc % TAGE_ALTERNATES], l->alternate_taken == taken,
			             TAGE_ALTERNATE_MAX);
		/* The alternate must be good by the time this entry is taken away. */
		if (!e->useful)
			train_one(t, pc, l, l->alternate, taken);
		if (l->provider_taken != l->alternate_taken) {
			if (l->provider_taken == taken)
				counter_up(&e->useful, TAGE_USEFUL_MAX);
			else
				counter_down(&e->useful);
		}
		counter_step(&e->counter, taken, TAGE_COUNTER_MAX);
	}
	if (l->taken != taken && l->provider + 1 < (int)t->nr_tables)
		allocate(t, l, taken);
}

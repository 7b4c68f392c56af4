/*
 * Which shipped core a processor is, or is nearest to, by its vendor and signature. A row says of models what core they
 * have and whether that is the core's own; the first that matches counts, and the last of a vendor matches all.
 *
 * A processor of two kinds of cores is taken for its larger ones.
 * Ref: Intel SDM volume 4, table 2-1 (models), and the specification updates of the Xeon processors (steppings); AMD's
 * processor programming references and optimization guides of families 17h, 19h and 1Ah (models).
 */
#include <string.h>

#include "calibrate/host.h"

struct row {
	unsigned family, first, last;  /* models */
	const char *core;
	bool same;                     /* the core is described there; else it is like it */
};

static const struct row intel[] = {
	{ 6, 42, 42, "sandy-bridge", true }, { 6, 45, 45, "sandy-bridge", true },
	{ 6, 58, 58, "sandy-bridge", false }, { 6, 62, 62, "sandy-bridge", false },    /* Ivy Bridge */
	/* Nehalem, Westmere */
	{ 6, 26, 26, "sandy-bridge", false }, { 6, 30, 31, "sandy-bridge", false },
	{ 6, 37, 37, "sandy-bridge", false },
	{ 6, 44, 44, "sandy-bridge", false }, { 6, 46, 47, "sandy-bridge", false },
	/* Haswell, Broadwell: desktops */
	{ 6, 60, 61, "skylake-x", false }, { 6, 69, 71, "skylake-x", false },
	/* and servers */
	{ 6, 63, 63, "skylake-sp", false }, { 6, 79, 79, "skylake-sp", false }, { 6, 86, 86, "skylake-sp", false },
	/* Skylake, Kaby, Coffee and Comet Lake */
	{ 6, 78, 78, "skylake-x", false }, { 6, 94, 94, "skylake-x", false },
	{ 6, 142, 142, "skylake-x", false }, { 6, 158, 158, "skylake-x", false }, { 6, 165, 166, "skylake-x", false },
	{ 6, 125, 126, "ice-lake", true }, { 6, 106, 106, "ice-lake", true }, { 6, 108, 108, "ice-lake", true },
	/* Cannon, Tiger and Rocket Lake */
	{ 6, 102, 102, "ice-lake", false }, { 6, 140, 141, "ice-lake", false }, { 6, 167, 167, "ice-lake", false },
	{ 6, 151, 151, "alder-lake-p", true }, { 6, 154, 154, "alder-lake-p", true },
	/* Raptor Lake */
	{ 6, 183, 183, "alder-lake-p", false }, { 6, 186, 186, "alder-lake-p", false },
	{ 6, 191, 191, "alder-lake-p", false },
	{ 6, 170, 170, "alder-lake-p", false }, { 6, 172, 172, "alder-lake-p", false }, /* Meteor Lake */
	/* Lunar, Arrow Lake */
	{ 6, 181, 181, "alder-lake-p", false }, { 6, 189, 189, "alder-lake-p", false },
	{ 6, 197, 198, "alder-lake-p", false },
	{ 6, 143, 143, "sapphire-rapids", true },
	/* Emerald, Granite Rapids */
	{ 6, 207, 207, "sapphire-rapids", false }, { 6, 173, 174, "sapphire-rapids", false },
	{ 18, 0, 255, "alder-lake-p", false }, { 19, 0, 255, "sapphire-rapids", false },
	{ 0, 0, 0, "skylake-sp", false },
};

static const struct row amd[] = {
	{ 0x17, 0x30, 0xff, "zen2", true },
	{ 0x19, 0x00, 0x0f, "zen3", true }, { 0x19, 0x20, 0x5f, "zen3", true }, { 0x19, 0x10, 0x1f, "zen4", true },
	{ 0x19, 0x60, 0xaf, "zen4", true },
	{ 0x1a, 0x00, 0x4f, "zen5", true }, { 0x1a, 0x60, 0x7f, "zen5", true },
	{ 0x17, 0x00, 0x2f, "zen2", false }, { 0x18, 0x00, 0xff, "zen2", false },      /* Zen, Zen+; Hygon's */
	{ 0x15, 0x00, 0xff, "zen2", false }, { 0x16, 0x00, 0xff, "zen2", false },
	{ 0, 0, 0, "zen5", false },                                                    /* later ones */
};

static const struct row *row_of(const struct row *r, const struct host *h)
{
	while (r->family && (r->family != h->family || h->model < r->first || h->model > r->last))
		r++;
	return r;
}

/* Skylake-SP, Skylake-X and their heirs are one model, told apart by the stepping and by what they are sold as. */
static const char *skylake_server(const struct host *h, bool *same)
{
	*same = h->stepping < 8;
	if (h->stepping >= 5)
		return "cascade-lake";
	return strstr(h->brand, "Core(TM)") ? "skylake-x" : "skylake-sp";
}

const char *host_parent(const struct host *h, const char **why)
{
	bool is_intel = !strcmp(h->vendor, "GenuineIntel"),
	     is_amd = !strcmp(h->vendor, "AuthenticAMD") || !strcmp(h->vendor, "HygonGenuine");
	const struct row *r;

	if (!is_intel && !is_amd) {
		*why = "the default for x86-64: nothing shipped is like it";
		return "skylake-sp";
	}
	r = row_of(is_intel ? intel : amd, h);
	bool same = r->same;
	const char *core = is_intel && h->family == 6 && h->model == 85 ? skylake_server(h, &same) : r->core;
	*why = same ? "the same core" : "the nearest of its vendor";
	return core;
}

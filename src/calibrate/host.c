/* CPUID; host.h says what for. Ref: Intel SDM volume 2A, CPUID; AMD64 APM volume 3, appendix E. */
#include "calibrate/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/error.h"

void host_signature(struct host *h, uint32_t signature)
{
	h->family = signature >> 8 & 15;
	h->model = signature >> 4 & 15;
	if (h->family == 15 || h->family == 6)
		h->model |= signature >> 12 & 0xf0;
	if (h->family == 15)
		h->family += signature >> 20 & 255;
	h->stepping = signature & 15;
}

#ifdef __x86_64__

/* Leaves that describe caches: 4 of Intel, 8000001DH of AMD, of one layout. */
static void read_caches(struct host *h)
{
	unsigned leaf = strcmp(h->vendor, "AuthenticAMD") && strcmp(h->vendor, "HygonGenuine") ? 4 : 0x8000001d;

	for (unsigned n = 0; n < 16; n++) {
		unsigned eax = 0, ebx, ecx, edx;

		if (!__get_cpuid_count(leaf, n, &eax, &ebx, &ecx, &edx) || !(eax & 31))
			break;
		unsigned type = eax & 31, level = eax >> 5 & 7, ways = (ebx >> 22) + 1;
		uint64_t size = (uint64_t)ways * ((ebx >> 12 & 1023) + 1) * ((ebx & 4095) + 1) * ((uint64_t)ecx + 1);

		if (type == 2)
			continue;
		if (level == 1) {
			h->l1d = size;
			h->l1d_ways = ways;
		} else if (level == 2) {
			h->l2 = size;
			h->l2_ways = ways;
		} else if (level == 3) {
			h->llc = size;
			h->llc_ways = ways;
		}
	}
}

int host_init(struct host *h)
{
	unsigned eax, ebx, ecx, edx;

	*h = (struct host){ .family = 0 };
	__cpuid(0, eax, ebx, ecx, edx);
	memcpy(h->vendor, &ebx, 4);
	memcpy(h->vendor + 4, &edx, 4);
	memcpy(h->vendor + 8, &ecx, 4);
	__cpuid(1, eax, ebx, ecx, edx);
	host_signature(h, eax);
	h->guest = ecx >> 31;
	for (unsigned i = 0; i < 3; i++)
		if (__get_cpuid(0x80000002 + i, &eax, &ebx, &ecx, &edx)) {
			unsigned text[4] = { eax, ebx, ecx, edx };

			memcpy(h->brand + 16 * i, text, sizeof text);
		}
	read_caches(h);
	return 0;
}

#else

int host_init(struct host *h)
{
	*h = (struct host){ .family = 0 };
	return error_set(ENOTSUP, "calibrate", "it measures x86-64 processors, and this is another");
}

#endif

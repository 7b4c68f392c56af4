/*
 * The processor this runs on, by what it says of itself, and the shipped description nearest to it.
 */
#ifndef CYCLEWISE_CALIBRATE_HOST_H
#define CYCLEWISE_CALIBRATE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host {
	char vendor[13];           /* "GenuineIntel" */
	char brand[49];            /* may be what a hypervisor made up */
	unsigned family, model, stepping;
	bool guest;                /* a hypervisor says it is there */
	/* Bytes and ways of the data caches as the processor, or the hypervisor, says; 0: it does not. */
	uint64_t l1d, l2, llc;
	unsigned l1d_ways, l2_ways, llc_ways;
};

/* 0, or -ENOTSUP on another ISA, with the message set. */
int host_init(struct host *h);

/* Family, model and stepping by what CPUID's leaf 1 says in EAX. */
void host_signature(struct host *h, uint32_t signature);

/* The description to inherit from: a shipped core's name. *why gets a clause that says how near it is; static. */
const char *host_parent(const struct host *h, const char **why);

#endif

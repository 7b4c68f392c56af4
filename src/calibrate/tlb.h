/*
 * TLBs and page walks: a chain through one line of each of N small pages, less one through as many lines behind one
 * another. It costs nothing up to what the first level holds, then a hit of the second, then a walk. In a guest a walk
 * goes through two page tables, and its cost is that.
 */
#ifndef CYCLEWISE_CALIBRATE_TLB_H
#define CYCLEWISE_CALIBRATE_TLB_H

#include "calibrate/experiment.h"

/* 0 or -errno. */
int tlb_measure(struct experiment *x);

#endif

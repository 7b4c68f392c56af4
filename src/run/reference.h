/*
 * The reference of CPI stacks: what each part of the core costs, by timing the run again with more and more parts real.
 *
 * All cores are fed by the one run of the program, beside the core and the methods (variants.h). From the core of which
 * all parts are ideal, parts become real one after the other, and a component is what its part's becoming real adds.
 * Where misses overlap, whoever comes later gets less: so there are two orders.
 * Ref: Eyerman et al., ASPLOS 2006, §5.2.
 */
#ifndef CYCLEWISE_RUN_REFERENCE_H
#define CYCLEWISE_RUN_REFERENCE_H

#include "run/drive.h"

extern const struct driven reference;

#endif

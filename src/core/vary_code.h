/*
 * The table of static instructions as a variant of a core has it: with other ports, units or latencies.
 *
 * It follows the table that it was made from, of which it has copies; what it does not change it shares. A port twice
 * as fast is two ports: each of the weighted ones gets a twin, which everything that names it may use too.
 */
#ifndef CYCLEWISE_CORE_VARY_CODE_H
#define CYCLEWISE_CORE_VARY_CODE_H

#include "core/vary.h"
#include "isa/code.h"

struct vary_code;

/* Whether any of the resources is one of static instructions. */
bool vary_code_wanted(const struct vary *const *part, unsigned nr);
/*
 * Whether the weight (relaxing, thousandths) can be put into effect: ports can only be doubled, where there is room for
 * all twins.
 */
bool vary_code_able(const struct vary *const *part, unsigned nr, uint32_t weight, const struct core_desc *d);

/* `d` is changed too, its schedulers feed the twins, and must outlive the code. 0 or -errno. */
int vary_code_new(struct vary_code **out, const struct code *code, const struct vary *const *part, unsigned nr,
                  uint32_t weight, struct core_desc *d);
void vary_code_free(struct vary_code *v);

/* Takes over what has come into the table. To be called before a batch is timed. */
void vary_code_follow(struct vary_code *v);
/* For the core; valid until vary_code_free(). */
struct code *vary_code(struct vary_code *v);

#endif

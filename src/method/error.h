/*
 * How wrong a method's profile is: the share of all cycles that it gives to the wrong unit or the wrong component.
 *
 *      E = (T - sum over units and components of min(C, C_ref)) / T
 *
 * The reference is reduced to the components that the method has, by the events its hardware knows; the method's
 * profile is scaled to the reference's total. A unit is an instruction, a basic block, a function or the whole program.
 * Ref: TEA §4 (error metric).
 */
#ifndef CYCLEWISE_METHOD_ERROR_H
#define CYCLEWISE_METHOD_ERROR_H

#include <stddef.h>
#include <stdint.h>

struct error_cell {
	uint64_t unit;                 /* any number */
	uint64_t amount;               /* of time: the sum of all of one array is below 2^63 */
	uint16_t psv;
};

/*
 * In [0, 1], by exact sums; NaN where either side has no time at all. Cells come in any order and may repeat; both
 * arrays are sorted and reduced in place.
 */
double method_error(struct error_cell *reference, size_t nr_reference, struct error_cell *profile, size_t nr,
                    uint16_t events);

/*
 * The mean error that a method without any fault would have of so many samples, each of one cycle drawn at random from
 * the reference: half the sum of the mean deviations of binomial variables. NaN where there is no time or no sample.
 * Ref: De Moivre's formula of the binomial's mean deviation.
 */
double method_sampling_error(struct error_cell *reference, size_t nr, uint16_t events, uint64_t samples);

#endif

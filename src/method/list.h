/*
 * The accounting methods: X(name) is `const struct method method_NAME` of the file NAME.c (fmt_dispatch: of fmt.c). In
 * the order they save.
 */
#define METHODS(X)                                                                                                     \
	X(pics)                                                                                                        \
	X(states) X(tea) X(slots) X(fmt) X(topdown) X(patterns) X(chains) X(nci) X(tip) X(ibs) X(spe) X(ris)           \
		X(profileme) X(software) X(sfmt) X(fmt_dispatch) X(power5) X(naive) X(stalls) X(blocks)

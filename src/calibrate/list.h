/*
 * Every experiment beside the instruction forms, in order: a file that defines int NAME_measure(struct experiment *),
 * and a line here.
 */
#define EXPERIMENTS(X) X(memory) X(tlb) X(window) X(penalties) X(prefetchers)

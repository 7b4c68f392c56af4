/* The timing models, in the order they are listed. Adding one: its file and a line here. */
#define CORES(X) \
	X(ooo) X(abstract)

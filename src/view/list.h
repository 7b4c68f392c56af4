/* Every view: a file that defines `const struct view view_NAME`, and a line here. */
#define VIEWS(X) \
	X(report) X(annotate) X(stat) X(methods) X(cost) X(sensitivity) X(causality) X(whatif) X(advise) X(cores)

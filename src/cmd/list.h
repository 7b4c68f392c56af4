/* Every command: a file that defines `const struct command command_NAME`, a manual page, and a line here. */
#define COMMANDS(X) \
	X(run) X(record) X(report) X(annotate) X(stat) X(methods) X(cost) X(sensitivity) X(causality) X(whatif) \
	X(advise) X(cores) X(calibrate)

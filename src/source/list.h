/* The sources: source_NAME is in NAME.c. */
#define SOURCES(X) X(qemu)

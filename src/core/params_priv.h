/*
 * Between params.c and corefile.c: parsing one value into a description. `what` is what errors are about:
 * a file, or an option.
 */
#ifndef CYCLEWISE_CORE_PARAMS_PRIV_H
#define CYCLEWISE_CORE_PARAMS_PRIV_H

#include "core/params.h"

/* Rows of core_params[] and core_strings[]; -1 where unknown. */
int param_index(const char *name);
int string_index(const char *name);
/* Sets the error for an unknown name, with the nearest as the remedy; -EINVAL. */
int param_unknown(const char *what, const char *name);
/* 0 or -EINVAL. Sets of ports need d->port_names: texts go first. */
int param_parse(struct core_desc *d, int param, const char *what, const char *text);
int string_parse(struct core_desc *d, int string, const char *what, const char *text);

#endif

/*
 * Places in the program as views write them: functions, lines, instructions.
 */
#ifndef CYCLEWISE_VIEW_PLACE_H
#define CYCLEWISE_VIEW_PLACE_H

#include "view/view.h"

enum { PLACE_SIZE = 1024 };

/* "symbol", or "symbol  [module]" with the module's last name; "(no symbol)" and "(JIT code)" have no name. */
char *place_function(const struct query_function *f, bool module, char buf[PLACE_SIZE]);
/* "file:line" */
char *place_line(const char *file, uint32_t line, char buf[PLACE_SIZE]);
/* "symbol+0x1c file.c:12", "0x1139 [libc.so.6]", with what is known */
char *place_insn(const struct query_insn *in, char buf[PLACE_SIZE]);

/* "line": a number; null where it is 0, not known. */
void line_json(struct json *j, uint32_t line);
/* A step of an inline chain each: "symbol", and "file" and "line" of the call. */
void frames_json(struct json *j, const char *key, const struct query_frame *frame, uint32_t nr);
/* Where an instruction is: "module", "address", "symbol", "offset", "file" and "line" of the object that is open. */
void place_json(struct json *j, const struct query_insn *in);
/* One element of "functions" and of "hot". */
void function_json(struct json *j, const struct view_request *r, const struct query_function *f);
void insn_json(struct json *j, const struct view_request *r, const struct query_insn *in);
/* The same, its object left open for more. */
void insn_json_open(struct json *j, const struct view_request *r, const struct query_insn *in);

#endif

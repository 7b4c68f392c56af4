/* An interpreter: a machine with a stack of numbers counts primes by a sieve, one indirect jump an operation. */
#include "draw.h"

enum { PUSH, GET, PUT, LOAD, STORE, ADD, MUL, LESS, JUMP, JUMP_UNLESS, STOP, CELLS = 20000 };

static int64_t run(const int32_t *code, int64_t *cells)
{
	int64_t stack[16], variable[8] = { 0 }, *top = stack;

	for (const int32_t *at = code;;) {
		switch (*at++) {
		case PUSH: *++top = *at++; break;
		case GET: *++top = variable[*at++]; break;
		case PUT: variable[*at++] = *top--; break;
		case LOAD: *top = cells[*top]; break;
		case STORE: cells[top[-1]] = *top; top -= 2; break;
		case ADD: top--; *top += top[1]; break;
		case MUL: top--; *top *= top[1]; break;
		case LESS: top--; *top = *top < top[1]; break;
		case JUMP: at = code + *at; break;
		case JUMP_UNLESS: at = *top-- ? at + 1 : code + *at; break;
		case STOP: return variable[2];
		}
	}
}

int main(void)
{
	/* i = 2; while (i < CELLS) { if (!cells[i]) { count++; for (j = i + i; j < CELLS; j += i) cells[j] = 1; } i++; } */
	static const int32_t code[] = {
		PUSH, 2, PUT, 0,
		/* 4 */ GET, 0, PUSH, CELLS, LESS, JUMP_UNLESS, 55,
		/* 11 */ GET, 0, LOAD, PUSH, 1, LESS, JUMP_UNLESS, 46,
		/* 19 */ GET, 2, PUSH, 1, ADD, PUT, 2, GET, 0, GET, 0, ADD, PUT, 1,
		/* 33 */ GET, 1, PUSH, CELLS, LESS, JUMP_UNLESS, 46, JUMP, 57,
		/* 42 */ 0, 0, 0, 0,
		/* 46 */ GET, 0, PUSH, 1, ADD, PUT, 0, JUMP, 4,
		/* 55 */ STOP, 0,
		/* 57 */ GET, 1, PUSH, 1, STORE, GET, 1, GET, 0, ADD, PUT, 1, JUMP, 33,
	};
	static int64_t cells[CELLS];
	int64_t sum = 0;

	for (int i = 0; i < 2; i++) {
		memset(cells, 0, sizeof(cells));
		sum += run(code, cells);
	}
	printf("%ld\n", (long)sum);
	return 0;
}

/* Go: games at random on 9 by 9, groups without liberties taken by flood fill. */
#include "draw.h"

enum { SIDE = 9, WIDE = SIDE + 2, POINTS = WIDE * WIDE, GAMES = 110 };
enum { EMPTY, BLACK, WHITE, EDGE };

static const int step[4] = { 1, -1, WIDE, -WIDE };
static uint8_t board[POINTS];

/* The group at a point into `group`; whether it has a liberty. */
static int gather(int at, int *group, int *nr)
{
	static int seen[POINTS], stamp;
	int liberty = 0, colour = board[at];

	stamp++;
	*nr = 0;
	group[(*nr)++] = at;
	seen[at] = stamp;
	for (int i = 0; i < *nr; i++)
		for (int s = 0; s < 4; s++) {
			int p = group[i] + step[s];

			if (board[p] == EMPTY) {
				liberty = 1;
			} else if (board[p] == colour && seen[p] != stamp) {
				seen[p] = stamp;
				group[(*nr)++] = p;
			}
		}
	return liberty;
}

/* 0: not allowed. */
static int play(int at, int colour)
{
	int group[POINTS], nr, taken = 0;

	if (board[at] != EMPTY)
		return 0;
	board[at] = (uint8_t)colour;
	for (int s = 0; s < 4; s++)
		if (board[at + step[s]] == 3 - colour && !gather(at + step[s], group, &nr)) {
			taken += nr;
			while (nr)
				board[group[--nr]] = EMPTY;
		}
	if (!taken && !gather(at, group, &nr)) {
		board[at] = EMPTY;
		return 0;
	}
	return 1;
}

int main(void)
{
	int score = 0;

	for (int game = 0; game < GAMES; game++) {
		for (int i = 0; i < POINTS; i++)
			board[i] = i / WIDE % (WIDE - 1) && i % WIDE % (WIDE - 1) ? EMPTY : EDGE;
		for (int move = 0; move < 140; move++)
			for (int tries = 0; tries < 8 && !play((1 + (int)draw(SIDE)) * WIDE + 1 + (int)draw(SIDE), 1 + move % 2); tries++)
				;
		for (int i = 0; i < POINTS; i++)
			score += (board[i] == BLACK) - (board[i] == WHITE);
	}
	printf("%d\n", score);
	return 0;
}

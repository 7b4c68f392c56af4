/* A chess-like search: four in a row, alpha and beta, boards as bits, a table of positions. */
#include "draw.h"

enum { WIDTH = 7, HEIGHT = 6, ROW = HEIGHT + 1, TABLE = 1 << 14 };

struct entry { uint64_t key; int8_t depth, value; };

static struct entry table[TABLE];
static uint64_t nodes;

static int wins(uint64_t b)
{
	static const int step[] = { 1, ROW, ROW - 1, ROW + 1 };

	for (int i = 0; i < 4; i++) {
		uint64_t two = b & b >> step[i];
		if (two & two >> 2 * step[i])
			return 1;
	}
	return 0;
}

static int search(uint64_t mine, uint64_t theirs, const int *height, int depth, int alpha, int beta)
{
	static const int order[WIDTH] = { 3, 2, 4, 1, 5, 0, 6 };
	uint64_t key = mine * 3 + theirs * 0x9e3779b97f4a7c15u;
	struct entry *e = &table[(key >> 20) % TABLE];

	nodes++;
	if (wins(theirs))
		return -50 - depth;
	if (!depth)
		return __builtin_popcountll(mine & 0x1041041041041u) - __builtin_popcountll(theirs & 0x1041041041041u);
	if (e->key == key && e->depth >= depth)
		return e->value;
	for (int i = 0; i < WIDTH && alpha < beta; i++) {
		int c = order[i], next[WIDTH];

		if (height[c] == HEIGHT)
			continue;
		memcpy(next, height, sizeof(next));
		next[c]++;
		int value = -search(theirs, mine | 1ull << (c * ROW + height[c]), next, depth - 1, -beta, -alpha);
		if (value > alpha)
			alpha = value;
	}
	*e = (struct entry){ key, (int8_t)depth, (int8_t)alpha };
	return alpha;
}

int main(void)
{
	int height[WIDTH] = { 0 }, value = search(0, 0, height, 7, -100, 100);

	printf("%d %lu\n", value, (unsigned long)nodes);
	return 0;
}

/* Compression: the longest earlier match by hash chains, and back again. */
#include "draw.h"

enum { SIZE = 150000, WINDOW = 1 << 15, HASH = 1 << 13, LONGEST = 255, TRIES = 24 };

static uint8_t in[SIZE], packed[2 * SIZE], out[SIZE];
static int32_t head[HASH], before[WINDOW];

static unsigned hash(const uint8_t *p) { return ((unsigned)p[0] << 6 ^ (unsigned)p[1] << 3 ^ p[2] * 17u) % HASH; }

static int match(int at, int candidate)
{
	int n = 0;

	while (n < LONGEST && at + n < SIZE && in[candidate + n] == in[at + n])
		n++;
	return n;
}

/* Triples: length (0: a literal), distance or byte. */
static size_t pack(void)
{
	size_t n = 0;

	memset(head, -1, sizeof(head));
	for (int at = 0; at < SIZE;) {
		int best = 0, distance = 0, tries = TRIES;

		if (at + 3 < SIZE)
			for (int c = head[hash(in + at)]; c >= 0 && at - c < WINDOW && tries--; c = before[c % WINDOW]) {
				int length = match(at, c);

				if (length > best) {
					best = length;
					distance = at - c;
				}
			}
		int step = best > 3 ? best : 1;
		packed[n++] = (uint8_t)(best > 3 ? best : 0);
		packed[n++] = (uint8_t)(best > 3 ? distance : in[at]);
		if (best > 3)
			packed[n++] = (uint8_t)(distance >> 8);
		for (int end = at + step; at < end; at++)
			if (at + 3 < SIZE) {
				unsigned h = hash(in + at);

				before[at % WINDOW] = head[h];
				head[h] = at;
			}
	}
	return n;
}

static void unpack(size_t n)
{
	int at = 0;

	for (size_t i = 0; i < n;) {
		int length = packed[i++], low = packed[i++];

		if (!length) {
			out[at++] = (uint8_t)low;
			continue;
		}
		int distance = low | packed[i++] << 8;
		while (length--) {
			out[at] = out[at - distance];
			at++;
		}
	}
}

int main(void)
{
	char words[300][8];

	for (int i = 0; i < 300; i++)
		for (int j = 0; j < 8; j++)
			words[i][j] = (char)('a' + draw(26));
	for (int at = 0; at < SIZE;) {
		unsigned w = draw(300) * draw(300) / 300, n = 2 + w % 7;

		for (unsigned j = 0; j < n && at < SIZE; j++)
			in[at++] = (uint8_t)words[w][j];
		if (at < SIZE)
			in[at++] = ' ';
	}
	size_t n = pack();
	unpack(n);
	printf("%zu %d\n", n, memcmp(in, out, SIZE));
	return 0;
}

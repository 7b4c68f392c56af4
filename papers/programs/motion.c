/* Video: where each 8 by 8 block of a picture was in the last one, and the cosine transform of what differs. */
#include <math.h>

#include "draw.h"

enum { WIDTH = 160, HEIGHT = 96, BLOCK = 8, REACH = 6 };

static uint8_t last[HEIGHT][WIDTH], now[HEIGHT][WIDTH];
static int cosine[BLOCK][BLOCK];
static long energy, vectors;

static int difference(int x, int y, int dx, int dy, int most)
{
	int sum = 0;

	for (int j = 0; j < BLOCK && sum < most; j++)
		for (int i = 0; i < BLOCK; i++)
			sum += abs(now[y + j][x + i] - last[y + dy + j][x + dx + i]);
	return sum;
}

static void transform(int x, int y, int dx, int dy)
{
	int a[BLOCK][BLOCK], b[BLOCK][BLOCK];

	for (int j = 0; j < BLOCK; j++)
		for (int u = 0; u < BLOCK; u++) {
			a[j][u] = 0;
			for (int i = 0; i < BLOCK; i++)
				a[j][u] += cosine[u][i] * (now[y + j][x + i] - last[y + dy + j][x + dx + i]);
		}
	for (int u = 0; u < BLOCK; u++)
		for (int v = 0; v < BLOCK; v++) {
			b[v][u] = 0;
			for (int j = 0; j < BLOCK; j++)
				b[v][u] += cosine[v][j] * a[j][u] >> 8;
			energy += abs(b[v][u] >> 10);
		}
}

int main(void)
{
	for (int u = 0; u < BLOCK; u++)
		for (int i = 0; i < BLOCK; i++)
			cosine[u][i] = (int)lround(256 * cos((2 * i + 1) * u * 3.14159265358979 / 16));
	for (int frame = 0; frame < 2; frame++) {
		memcpy(last, now, sizeof(now));
		for (int y = 0; y < HEIGHT; y++)
			for (int x = 0; x < WIDTH; x++)
				now[y][x] = (uint8_t)(((x - 3 * frame) * (y - frame) / 7 & 127) + draw(12));
		for (int y = 0; y < HEIGHT; y += BLOCK)
			for (int x = 0; x < WIDTH; x += BLOCK) {
				int best = 1 << 30, bx = 0, by = 0;

				for (int dy = -REACH; dy <= REACH; dy++)
					for (int dx = -REACH; dx <= REACH; dx++) {
						if (x + dx < 0 || y + dy < 0 || x + dx + BLOCK > WIDTH || y + dy + BLOCK > HEIGHT)
							continue;
						int d = difference(x, y, dx, dy, best);
						if (d < best) {
							best = d;
							bx = dx;
							by = dy;
						}
					}
				vectors += bx + by;
				transform(x, y, bx, by);
			}
	}
	printf("%ld %ld\n", energy, vectors);
	return 0;
}

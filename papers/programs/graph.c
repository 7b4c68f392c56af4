/* A graph walk: distances from one place by breadth, then by weight with a heap, in a graph of no order. */
#include "draw.h"

enum { PLACES = 40000, ROADS = 5 };

static uint32_t to[PLACES][ROADS], queue[PLACES], distance[PLACES];
static uint8_t length[PLACES][ROADS];
static uint64_t heap[PLACES * ROADS];
static uint32_t nr;

static void push(uint64_t what)
{
	uint32_t i = nr++;

	for (; i && heap[(i - 1) / 2] > what; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = what;
}

static uint64_t pop(void)
{
	uint64_t least = heap[0], what = heap[--nr];
	uint32_t i = 0;

	for (uint32_t child; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= what)
			break;
		heap[i] = heap[child];
	}
	heap[i] = what;
	return least;
}

int main(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PLACES; i++)
		for (int k = 0; k < ROADS; k++) {
			to[i][k] = draw(PLACES);
			length[i][k] = (uint8_t)(1 + draw(200));
		}
	memset(distance, -1, sizeof(distance));
	distance[0] = 0;
	uint32_t head = 0, tail = 1;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (int k = 0; k < ROADS; k++)
			if (distance[to[at][k]] == UINT32_MAX) {
				distance[to[at][k]] = distance[at] + 1;
				queue[tail++] = to[at][k];
			}
	}
	for (uint32_t i = 0; i < PLACES; i++)
		sum += distance[i] == UINT32_MAX ? 0 : distance[i];
	memset(distance, -1, sizeof(distance));
	distance[0] = 0;
	push(0);
	while (nr) {
		uint64_t least = pop();
		uint32_t at = (uint32_t)least, far = (uint32_t)(least >> 32);

		if (far > distance[at])
			continue;
		for (int k = 0; k < ROADS; k++)
			if (far + length[at][k] < distance[to[at][k]]) {
				distance[to[at][k]] = far + length[at][k];
				push((uint64_t)distance[to[at][k]] << 32 | to[at][k]);
			}
	}
	for (uint32_t i = 0; i < PLACES; i++)
		sum += distance[i] == UINT32_MAX ? 0 : distance[i];
	printf("%lu %u\n", (unsigned long)sum, tail);
	return 0;
}

/* SQL: two tables joined by hash, an ordered index by binary search, a sum by group. */
#include "draw.h"

enum { ROWS = 60000, BUCKETS = 1 << 16, GROUPS = 1000 };

struct row { uint32_t key, value, next; };

static struct row left[ROWS], right[ROWS];
static uint32_t bucket[BUCKETS], index_of[ROWS];
static uint64_t sum[GROUPS];

static int by_key(const void *a, const void *b)
{
	uint32_t x = right[*(const uint32_t *)a].key, y = right[*(const uint32_t *)b].key;

	return x < y ? -1 : x > y;
}

int main(void)
{
	uint64_t found = 0, ranks = 0;

	for (uint32_t i = 0; i < ROWS; i++) {
		left[i] = (struct row){ draw(ROWS), draw(1000), 0 };
		right[i] = (struct row){ draw(ROWS), draw(1000), 0 };
		index_of[i] = i;
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t *b = &bucket[left[i].key * 2654435761u >> 16];

		left[i].next = *b;
		*b = i + 1;
	}
	for (uint32_t i = 0; i < ROWS; i++)
		for (uint32_t at = bucket[right[i].key * 2654435761u >> 16]; at; at = left[at - 1].next)
			if (left[at - 1].key == right[i].key) {
				found++;
				sum[left[at - 1].value % GROUPS] += right[i].value;
			}
	qsort(index_of, ROWS, sizeof(*index_of), by_key);
	for (uint32_t i = 0; i < ROWS / 4; i++) {
		uint32_t key = draw(ROWS), low = 0, high = ROWS;

		while (low < high) {
			uint32_t middle = (low + high) / 2;

			if (right[index_of[middle]].key < key)
				low = middle + 1;
			else
				high = middle;
		}
		ranks += low;
	}
	printf("%lu %lu %lu\n", (unsigned long)found, (unsigned long)ranks, (unsigned long)sum[17]);
	return 0;
}

/* Sorting: words by quicksort through pointers, then counted. */
#include "draw.h"

enum { WORDS = 16000 };

static char text[WORDS][12];
static const char *word[WORDS];

static void sort(const char **w, int n)
{
	while (n > 1) {
		const char *pivot = w[n / 2];
		int i = 0, j = n - 1;

		for (;;) {
			while (strcmp(w[i], pivot) < 0)
				i++;
			while (strcmp(w[j], pivot) > 0)
				j--;
			if (i >= j)
				break;
			const char *t = w[i];
			w[i++] = w[j];
			w[j--] = t;
		}
		sort(w, i);
		w += i;
		n -= i;
	}
}

int main(void)
{
	int distinct = 1;

	for (int i = 0; i < WORDS; i++) {
		int n = 3 + (int)draw(8);

		for (int j = 0; j < n; j++)
			text[i][j] = (char)('a' + draw(5));
		word[i] = text[i];
	}
	sort(word, WORDS);
	for (int i = 1; i < WORDS; i++)
		distinct += strcmp(word[i - 1], word[i]) != 0;
	printf("%d %s\n", distinct, word[WORDS / 2]);
	return 0;
}

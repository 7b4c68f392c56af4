#include "view/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *number_ratio(char buf[NUMBER_SIZE], uint64_t num, uint64_t den, unsigned decimals)
{
	uint64_t scale = 1, whole, rest;

	assert(den && decimals <= 6);
	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	whole = num / den;
	rest = (uint64_t)(((unsigned __int128)(num % den) * scale * 2 + den) / ((unsigned __int128)den * 2));
	if (rest == scale) {
		whole++;
		rest = 0;
	}
	if (decimals)
		snprintf(buf, NUMBER_SIZE, "%" PRIu64 ".%0*" PRIu64, whole, (int)decimals, rest);
	else
		snprintf(buf, NUMBER_SIZE, "%" PRIu64, whole);
	return buf;
}

char *number_trimmed(char buf[NUMBER_SIZE], uint64_t num, uint64_t den)
{
	size_t n = strlen(number_ratio(buf, num, den, 6));

	while (buf[n - 1] == '0')
		n--;
	if (buf[n - 1] == '.')
		n--;
	buf[n] = '\0';
	return buf;
}

char *number_grouped(char buf[NUMBER_SIZE], uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, value), at = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

char *number_whole(char buf[NUMBER_SIZE], uint64_t num, uint64_t den)
{
	return number_grouped(buf, num / den + (num % den >= den - num % den));
}

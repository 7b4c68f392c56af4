/* Regular expressions: a backtracking matcher of literals, '.', classes in brackets, '*', over lines at random. */
#include "draw.h"

static int matches(const char *p, const char *s);

static int one(const char *p, char c)
{
	if (!c)
		return 0;
	if (*p == '[') {
		for (p++; *p != ']'; p++)
			if (*p == c)
				return 1;
		return 0;
	}
	return *p == '.' || *p == c;
}

static const char *behind(const char *p)
{
	if (*p == '[')
		while (*p != ']')
			p++;
	return p + 1;
}

static int star(const char *p, const char *rest, const char *s)
{
	const char *end = s;

	while (one(p, *end))
		end++;
	for (; end >= s; end--)
		if (matches(rest, end))
			return 1;
	return 0;
}

static int matches(const char *p, const char *s)
{
	while (*p) {
		const char *next = behind(p);

		if (*next == '*')
			return star(p, next + 1, s);
		if (!one(p, *s))
			return 0;
		p = next;
		s++;
	}
	return 1;
}

int main(void)
{
	static const char *patterns[] = { "a[bcd]*e.*f", "[aeiou].[aeiou].*q[xyz]", "b.*c.*d.*g[aeiou]h", "xyzzy" };
	char line[64];
	int found = 0;

	for (int i = 0; i < 700; i++) {
		for (int j = 0; j < 63; j++)
			line[j] = (char)('a' + draw(26) * draw(26) / 26);
		line[63] = 0;
		for (int p = 0; p < 4; p++)
			for (const char *s = line; *s; s++)
				if (matches(patterns[p], s)) {
					found++;
					break;
				}
	}
	printf("%d\n", found);
	return 0;
}

/*
 * What programs are made of, a kind at a time, for the fingerprints: `mixture NAME` runs that of the name, as the function run().
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double a[96][96], b[96][96], c[96][96], v[1 << 16];
static uint64_t result;

static void product(void)
{
	for (unsigned i = 0; i < 14; i++)
		for (unsigned j = 0; j < 24; j++) {
			double sum = 0;
			for (unsigned k = 0; k < 24; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	result += (uint64_t)c[3][5];
}

static void stencil(void)
{
	for (unsigned t = 0; t < 2; t++)
		for (unsigned i = 1; i < 4000; i++)
			v[i] = (v[i - 1] + v[i] + v[i + 1]) * 0.33333;
}

static void solve(void)
{
	for (unsigned i = 0; i < 64; i++) {
		double sum = v[i];
		for (unsigned j = 0; j < i; j++)
			sum -= a[i][j] * v[j];
		v[i] = sum / (a[i][i] + 2);
	}
	for (unsigned i = 1; i < 300; i++)
		v[i] = sqrt(fabs(v[i])) + exp(-v[i - 1]) + (double)(float)v[i];
}

static int compare(const void *p, const void *q)
{
	double x = *(const double *)p, y = *(const double *)q;
	return (x > y) - (x < y);
}

static void order(void)
{
	qsort(v, 600, sizeof *v, compare);
}

struct node { struct node *left, *right; uint64_t key; char text[24]; };
static struct node nodes[2000];

static void tree(void)
{
	struct node *root = NULL;

	for (unsigned i = 0; i < 700; i++) {
		struct node **at = &root;
		nodes[i].key = next() % 100000;
		while (*at && (*at)->key != nodes[i].key)
			at = nodes[i].key < (*at)->key ? &(*at)->left : &(*at)->right;
		if (!*at)
			*at = &nodes[i];
	}
	for (unsigned i = 0; i < 600; i++) {
		struct node *n = root;
		uint64_t key = next() % 100000;
		while (n && n->key != key)
			n = key < n->key ? n->left : n->right;
		result += n != NULL;
	}
}

static void text(void)
{
	char line[200];

	for (unsigned i = 0; i < 60; i++) {
		int n = snprintf(line, sizeof line, "%u %s %.3f %08lx|%-10d", i, "some words", (double)i * 1.37, (unsigned long)next(), (int)i * 77);
		for (char *word = strtok(line, " |"); word; word = strtok(NULL, " |"))
			result += strlen(word) + (uint64_t)strtol(word, NULL, 0);
		result += (uint64_t)n;
	}
}

static void digest(void)
{
	uint32_t h[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	for (unsigned i = 0; i < 1500; i++) {
		uint32_t t = h[7] + ((h[4] >> 6 | h[4] << 26) ^ (h[4] >> 11 | h[4] << 21)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) + i;
		memmove(h + 1, h, 7 * sizeof *h);
		h[4] += t;
		h[0] = t + ((h[1] & h[2]) ^ (h[1] & h[3]));
	}
	result += h[0];
}

static void division(void)
{
	uint64_t x = 1;

	for (unsigned i = 2; i < 1200; i++)
		x = (x * 31 + next()) % (i * 1000003u) + x / i;
	for (unsigned i = 2; i < 3000; i++) {
		unsigned k = 2;
		while (k * k <= i && i % k)
			k++;
		result += k * k > i;
		if (k > 40)
			i += 7;
	}
	result += x;
}

static void interpret(void)
{
	static uint8_t program[64];
	uint64_t stack[16] = { 0 }, top = 0;

	for (unsigned i = 0; i < sizeof program; i++)
		program[i] = (uint8_t)(next() % 7);
	for (unsigned round = 0; round < 60; round++)
		for (unsigned at = 0; at < sizeof program; at++)
			switch (program[at]) {
			case 0: stack[top++ & 15] = at; break;
			case 1: stack[(top - 1) & 15] += stack[top & 15]; break;
			case 2: stack[top & 15] ^= 7; break;
			case 3: stack[(top - 2) & 15] = stack[(top - 1) & 15] * 3; break;
			case 4: top -= top > 0; break;
			case 5: at += stack[top & 15] & 1; break;
			default: stack[top & 15] -= at; break;
			}
	result += stack[0];
}

static const struct { const char *name; void (*run)(void); } kinds[] = {
	{ "product", product }, { "stencil", stencil }, { "solve", solve }, { "sorted", order }, { "tree", tree }, { "text", text },
	{ "digest", digest }, { "division", division }, { "interpret", interpret },
};

__attribute__((noinline)) void run(unsigned i)
{
	kinds[i].run();
	asm volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < 96; i++)
		for (unsigned k = 0; k < 96; k++)
			a[i][k] = b[i][k] = 1 + (double)(i * 7 + k) / 97;
	for (unsigned i = 0; i < 1 << 16; i++)
		v[i] = (double)(next() % 1000) / 7;
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (argc == 1)
			puts(kinds[i].name);
		else if (!strcmp(argv[1], kinds[i].name))
			run(i);
	}
	return 0;
}

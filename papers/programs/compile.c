/* A compiler: expressions in text to trees, constants folded, trees to code with registers, by recursive functions. */
#include "draw.h"

struct node {
	char op;                       /* 'n': a number; 'v': a variable; else the operator */
	int value;
	struct node *left, *right;
};

static char source[1 << 12], *at;
static struct node pool[4096];
static int used;
static uint64_t code;

static struct node *node(char op, int value, struct node *left, struct node *right)
{
	struct node *n = &pool[used++];

	*n = (struct node){ op, value, left, right };
	return n;
}

/* Writes an expression of this depth. */
static void write(int depth)
{
	if (!depth || !draw(5)) {
		if (draw(2))
			at += sprintf(at, "%u", draw(100));
		else
			*at++ = (char)('a' + draw(26));
		return;
	}
	*at++ = '(';
	write(depth - 1);
	*at++ = "+-*"[draw(3)];
	write(depth - 1);
	*at++ = ')';
}

static struct node *parse_sum(void);

static struct node *parse_atom(void)
{
	if (*at == '(') {
		at++;
		struct node *n = parse_sum();
		at++;
		return n;
	}
	if (*at >= 'a')
		return node('v', *at++ - 'a', 0, 0);
	int value = 0;
	while (*at >= '0' && *at <= '9')
		value = value * 10 + *at++ - '0';
	return node('n', value, 0, 0);
}

static struct node *parse_product(void)
{
	struct node *n = parse_atom();

	while (*at == '*') {
		at++;
		n = node('*', 0, n, parse_atom());
	}
	return n;
}

static struct node *parse_sum(void)
{
	struct node *n = parse_product();

	while (*at == '+' || *at == '-') {
		char op = *at++;
		n = node(op, 0, n, parse_product());
	}
	return n;
}

static struct node *fold(struct node *n)
{
	if (!n->left)
		return n;
	n->left = fold(n->left);
	n->right = fold(n->right);
	if (n->left->op == 'n' && n->right->op == 'n') {
		int l = n->left->value, r = n->right->value;
		unsigned value = n->op == '+' ? (unsigned)l + (unsigned)r : n->op == '-' ? (unsigned)l - (unsigned)r : (unsigned)l * (unsigned)r;
		*n = (struct node){ 'n', (int)value, 0, 0 };
	}
	return n;
}

/* Registers that the tree needs; the needier side first. */
static int need(const struct node *n)
{
	if (!n->left)
		return 1;
	int l = need(n->left), r = need(n->right);
	return l == r ? l + 1 : l > r ? l : r;
}

static void emit(const struct node *n, int target)
{
	if (n->left) {
		int first = need(n->left) >= need(n->right);

		emit(first ? n->left : n->right, target);
		emit(first ? n->right : n->left, target + 1);
	}
	code = (code ^ (uint64_t)n->op ^ (uint64_t)(unsigned)n->value << 8 ^ (uint64_t)(unsigned)target << 40) * 1099511628211u;
}

int main(void)
{
	for (int i = 0; i < 900; i++) {
		at = source;
		write(8);
		*at = 0;
		at = source;
		used = 0;
		emit(fold(parse_sum()), 0);
	}
	printf("%lx\n", (unsigned long)code);
	return 0;
}

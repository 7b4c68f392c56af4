/*
 * An example to profile: a shop adds up its orders, in three functions that are slow for three different reasons.
 *
 *   add_to_customers   looks up customers in a table larger than the caches: the load waits for memory
 *   sum_by_kind        branches on what is as good as random: the branch is predicted wrongly half of the time
 *   fingerprint        multiplies what it multiplied before: each step waits for the last, and no event is to blame
 *
 *   cc -O1 -g -o orders orders.c && cyclewise run ./orders
 */
#include <stdint.h>
#include <stdio.h>

enum { CUSTOMERS = 1 << 18, ORDERS = 1 << 18, ROUNDS = 4 };

struct customer {
	uint64_t id, spent;
	uint64_t reserved[2];
};

struct order {
	uint32_t customer, amount;
	uint64_t kind;
};

static struct customer customers[CUSTOMERS];
static struct order orders[ORDERS];

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void make_orders(void)
{
	uint64_t state = 42;

	for (unsigned i = 0; i < CUSTOMERS; i++)
		customers[i].id = (i * 40503u + 1) % CUSTOMERS;
	for (unsigned i = 0; i < ORDERS; i++) {
		orders[i].customer = (uint32_t)next(&state) % CUSTOMERS;
		orders[i].amount = (uint32_t)next(&state) % 1024;
		orders[i].kind = next(&state);
	}
}

__attribute__((noinline)) static uint64_t add_to_customers(void)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < ORDERS / ROUNDS; i++) {
		/* Who ordered is told by whom the last one stands for: each lookup waits for the one before. */
		struct customer *c = &customers[(orders[i].customer + last) % CUSTOMERS];

		c->spent += orders[i].amount;
		last = c->id;
	}
	return last;
}

__attribute__((noinline)) static uint64_t sum_by_kind(void)
{
	uint64_t paid = 0, returned = 0;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < ORDERS; i++) {
			if (orders[i].kind >> round & 1)
				paid += orders[i].amount / 3;
			else
				returned ^= orders[i].amount << 2;
		}
	return paid - returned;
}

__attribute__((noinline)) static uint64_t fingerprint(void)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < ORDERS; i++)
			hash = (hash ^ orders[i].amount) * 0x100000001b3u;
	return hash;
}

int main(void)
{
	make_orders();
	printf("%llx", (unsigned long long)add_to_customers());
	printf(" %llx", (unsigned long long)sum_by_kind());
	printf(" %llx\n", (unsigned long long)fingerprint());
	return 0;
}

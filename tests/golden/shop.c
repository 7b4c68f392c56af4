/* The source of the golden tests' program: lines as shop.sql has them. */
long total(const long *price, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += square(price[i]);
	return sum;
}

long square(long x) { return x * x; }

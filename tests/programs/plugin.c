/* A plugin for reload.c. With -DMORE another function stands before the first. */
#ifdef MORE
int more(int n)
{
	return n * 3 + n / 7;
}
#endif

int work(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

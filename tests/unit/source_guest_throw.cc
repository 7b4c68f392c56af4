// A region that is left by an exception: guest_work runs 4 times inside it, 15 times outside.
#include <stdexcept>

extern "C" {
__attribute__((noinline)) void guest_work(void)
{
	for (int i = 0; i < 100; i++)
		__asm__ volatile("nop" ::: "memory");
}

__attribute__((noinline)) void guest_region(int depth)
{
	guest_work();
	if (!depth)
		throw std::runtime_error("out");
	guest_region(depth - 1);
	guest_work();
}
}

static __attribute__((noinline)) int catches()
{
	try {
		guest_region(3);
	} catch (const std::exception &) {
		for (int i = 0; i < 5; i++)
			guest_work();
		return 0;
	}
	return 1;
}

int main()
{
	int status = catches();
	for (int i = 0; i < 10; i++)
		guest_work();
	return status;
}

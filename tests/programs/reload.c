/* Calls work() of the plugin argv[1], puts argv[2] in its place, loads it anew and calls it again. */
#include <dlfcn.h>
#include <stdio.h>

#include "reader.h"

int main(int argc, char **argv)
{
	for (int i = 0; i < 2 && argc == 3; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "work") : NULL;

		if (!work)
			return 1;
		work(i ? 2000 : 5000);
		wait_for_reader(argv[1]);
		dlclose(plugin);
		if (!i && rename(argv[2], argv[1]))
			return 1;
	}
	return 0;
}

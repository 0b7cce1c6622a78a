/* Reads 64 KB at the tail and, as a reader that finds its answer there need
 * not, 64 KB at the head of every file in a folder; with "tail" the tail alone. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW 65536

int main(int argc, char **argv)
{
	static char buf[WINDOW];
	char path[4096];
	long bytes = 0;
	int tail_only = argc == 3 && !strcmp(argv[2], "tail");
	DIR *dir = argc >= 2 ? opendir(argv[1]) : NULL;
	if (!dir)
		return 1;
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		struct stat st;
		if (fd < 0 || fstat(fd, &st))
			continue;
		bytes += pread(fd, buf, WINDOW, st.st_size > WINDOW ? st.st_size - WINDOW : 0);
		if (!tail_only)
			bytes += pread(fd, buf, WINDOW, 0);
		close(fd);
	}
	printf("%ld bytes\n", bytes);
	return 0;
}

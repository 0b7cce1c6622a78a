/* Reads the environment of every process once. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static char buf[1 << 20];
	char path[300];
	long read_from = 0, bytes = 0;
	DIR *dir = opendir("/proc");
	if (!dir)
		return 1;
	for (struct dirent *e; (e = readdir(dir));) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		ssize_t n = read(fd, buf, sizeof buf);
		close(fd);
		bytes += n > 0 ? n : 0;
		read_from++;
	}
	printf("%ld processes, %ld bytes\n", read_from, bytes);
	return 0;
}

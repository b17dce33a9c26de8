// A small load for the kernel: processes, pipes, files, memory, sockets and /proc.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void pipes(void) {
	int fd[2];
	char data[512] = {1};
	if (pipe(fd)) return;
	for (int i = 0; i < 400; i++) {
		if (write(fd[1], data, sizeof data) < 0 || read(fd[0], data, sizeof data) < 0) return;
	}
	close(fd[0]);
	close(fd[1]);
}

static void sockets(void) {
	int fd[2];
	char data[256] = {2};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) return;
	for (int i = 0; i < 200; i++) {
		if (write(fd[0], data, sizeof data) < 0 || read(fd[1], data, sizeof data) < 0) return;
	}
	close(fd[0]);
	close(fd[1]);
}

static void filesOf(int round) {
	char name[64], data[4096] = {3};
	for (int i = 0; i < 30; i++) {
		struct stat st;
		snprintf(name, sizeof name, "/tmp/%d-%d", round, i);
		int fd = open(name, O_RDWR | O_CREAT, 0600);
		if (fd < 0) return;
		for (int k = 0; k < 4; k++) if (write(fd, data, sizeof data) < 0) return;
		lseek(fd, 0, SEEK_SET);
		while (read(fd, data, sizeof data) > 0) {}
		close(fd);
		stat(name, &st);
		unlink(name);
	}
}

static void memory(void) {
	char *p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1;
	munmap(p, 1 << 20);
}

static void proc(void) {
	char data[4096];
	DIR *d = opendir("/proc");
	while (d && readdir(d)) {}
	if (d) closedir(d);
	int fd = open("/proc/self/maps", O_RDONLY);
	while (fd >= 0 && read(fd, data, sizeof data) > 0) {}
	close(fd);
}

int main(void) {
	int rounds = 10;
	mkdir("/proc", 0755);
	mkdir("/tmp", 0755);
	mount("proc", "/proc", "proc", 0, 0);
	mount("tmpfs", "/tmp", "tmpfs", 0, 0);
	printf("init: running\n");
	for (int i = 0; i < rounds; i++) {
		pipes();
		sockets();
		filesOf(i);
		memory();
		proc();
		for (int k = 0; k < 5; k++) {
			int pid = fork();
			if (pid == 0) _exit(0);
			waitpid(pid, 0, 0);
		}
	}
	printf("init: done after %d rounds\n", rounds);
	fflush(stdout);
	sync();
	reboot(RB_AUTOBOOT);
	return 0;
}

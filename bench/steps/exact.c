// A plugin for QEMU's user mode that counts all code that an AArch64 program executes. It writes the
// text of afdo create --to samples: how often each straight piece of code ran, and how often each
// branch was taken. The program has to be linked at a fixed address, which is the argument base. The
// argument size is at least the size of its code: code elsewhere, as of libraries, is not counted.
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/plugin.h"

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

// A block is the code that QEMU translates at once. It ends with a branch, or where QEMU stops.
struct block {
	uint64_t start, last, count;
	bool branches; // the last instruction is a branch
	struct block *next;
};

// An edge is a taken branch. The table of edges has a chain for each value of a hash.
struct edge {
	uint64_t from, to, count;
	struct edge *next;
};

enum { chains = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct block *before; // of the thread
static struct block *blocks;
static struct edge *edges[chains];
static uint64_t base, size = 1 << 24;
static FILE *out;

static bool isCounted(uint64_t address) { return address - base < size; }

static void count(uint64_t from, uint64_t to) {
	struct edge **chain = &edges[(from * 31 + to) / 4 % chains], *e = *chain;
	while (e && (e->from != from || e->to != to)) e = e->next;
	if (!e) {
		e = calloc(1, sizeof *e);
		if (!e) abort();
		*e = (struct edge){from, to, 0, *chain};
		*chain = e;
	}
	e->count++;
}

static void step(unsigned cpu, void *data) {
	struct block *b = data, *a = before;
	before = b;
	pthread_mutex_lock(&lock);
	b->count++;
	if (a && a->branches && b->start != a->last + 4 && isCounted(a->last) && isCounted(b->start)) count(a->last, b->start);
	pthread_mutex_unlock(&lock);
}

// isBranch reports whether an instruction is B, BL, B.cond, CBZ, TBZ, BR, BLR or RET.
static bool isBranch(uint32_t w) {
	return (w & 0x7c000000) == 0x14000000 || (w & 0xfe000000) == 0x54000000 || (w & 0x7c000000) == 0x34000000 || (w & 0xfe000000) == 0xd6000000;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
	struct block *b = calloc(1, sizeof *b);
	uint32_t w;
	if (!b) abort();
	memcpy(&w, qemu_plugin_insn_data(last), sizeof w);
	b->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	b->last = qemu_plugin_insn_vaddr(last);
	b->branches = isBranch(w);
	b->next = blocks;
	blocks = b;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, step, 0, b);
}

static void finish(qemu_plugin_id_t id, void *data) {
	uint64_t ranges = 0, branches = 0;
	for (struct block *b = blocks; b; b = b->next) ranges += b->count > 0 && isCounted(b->start);
	for (int i = 0; i < chains; i++) for (struct edge *e = edges[i]; e; e = e->next) branches++;
	fprintf(out, "%" PRIu64 "\n", ranges);
	for (struct block *b = blocks; b; b = b->next) {
		if (b->count && isCounted(b->start)) fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", b->start - base, b->last - base, b->count);
	}
	fprintf(out, "0\n%" PRIu64 "\n", branches);
	for (int i = 0; i < chains; i++) {
		for (struct edge *e = edges[i]; e; e = e->next) fprintf(out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", e->from - base, e->to - base, e->count);
	}
	fclose(out);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
	const char *path = "exact.txt";
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) path = argv[i] + 4;
		if (!strncmp(argv[i], "base=", 5)) base = strtoull(argv[i] + 5, 0, 0);
		if (!strncmp(argv[i], "size=", 5)) size = strtoull(argv[i] + 5, 0, 0);
	}
	out = fopen(path, "w");
	if (!out) return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, 0);
	return 0;
}

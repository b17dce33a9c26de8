// A plugin for QEMU that writes the taken branches of the kernel as branch stacks, as the text of
// "perf script -F ip,brstack" has them: 32 branches of every PERIOD, the newest first.
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

// A block is the code that QEMU translates at once. It ends with a branch, or where QEMU stops.
struct block {
	uint64_t start, last, next; // of the last instruction, and what follows it
	uint64_t target;            // of a direct branch, else 0
	bool branches;              // the last instruction is a branch
};

enum { depth = 32, kernelBit = 63 };

static struct block *before;
static struct { uint64_t from, to; } stack[depth];
static uint64_t taken, stacks, period = 1009;
static FILE *out;

static void step(unsigned cpu, void *data) {
	struct block *b = data, *a = before;
	before = b;
	if (!a || !a->branches || b->start == a->next) return;
	if (a->target && a->target != b->start) return; // an interrupt or a fault
	if (!(a->last >> kernelBit) || !(b->start >> kernelBit)) return;
	stack[taken % depth].from = a->last;
	stack[taken % depth].to = b->start;
	if (++taken % period || taken < depth) return;
	fprintf(out, "%" PRIx64, stack[(taken - 1) % depth].to);
	for (uint64_t i = 1; i <= depth; i++) {
		fprintf(out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0", stack[(taken - i) % depth].from, stack[(taken - i) % depth].to);
	}
	fputc('\n', out);
	stacks++;
}

// decode finds out whether an instruction is a branch, and where a direct one leads.
static void decode(struct block *b, const uint8_t *code, size_t size) {
	size_t i = 0;
	int32_t far = 0;
	while (i < size && (code[i] == 0x2e || code[i] == 0x3e || code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3 || (code[i] & 0xf0) == 0x40)) i++;
	if (i >= size) return;
	uint8_t op = code[i];
	bool near = (op & 0xf0) == 0x70 || op == 0xeb || (op >= 0xe0 && op <= 0xe3);
	bool wide = op == 0xe8 || op == 0xe9 || (op == 0x0f && i + 1 < size && (code[i + 1] & 0xf0) == 0x80);
	bool indirect = op == 0xff && i + 1 < size && ((code[i + 1] >> 3 & 7) == 2 || (code[i + 1] >> 3 & 7) == 4);
	b->branches = near || wide || indirect || op == 0xc3 || op == 0xc2;
	if (near) b->target = b->next + (int8_t)code[size - 1];
	if (wide && size >= 4) {
		memcpy(&far, code + size - 4, 4);
		b->target = b->next + far;
	}
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	struct block *b = calloc(1, sizeof *b);
	if (!b) abort();
	b->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	b->last = qemu_plugin_insn_vaddr(last);
	b->next = b->last + qemu_plugin_insn_size(last);
	decode(b, qemu_plugin_insn_data(last), qemu_plugin_insn_size(last));
	qemu_plugin_register_vcpu_tb_exec_cb(tb, step, 0, b);
}

static void finish(qemu_plugin_id_t id, void *data) {
	fclose(out);
	fprintf(stderr, "branches: %" PRIu64 " taken in the kernel, %" PRIu64 " stacks\n", taken, stacks);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
	const char *path = "branches.txt";
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) path = argv[i] + 4;
		if (!strncmp(argv[i], "period=", 7)) period = strtoull(argv[i] + 7, 0, 10);
	}
	out = fopen(path, "w");
	if (!out || !period) return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, 0);
	return 0;
}

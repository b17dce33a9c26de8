// Compiles formulas for a stack machine and runs them: many small functions, most of which -O2 inlines.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text;

static void fail(const char *what) {
	fprintf(stderr, "%s at %.20s\n", what, text);
	exit(1);
}

struct entry {
	char *name;
	size_t length;
	unsigned hash;
	long value;
};

struct table {
	struct entry *entries;
	size_t capacity, used;
};

static void *allocate(size_t n, size_t size) {
	void *p = calloc(n, size);
	if (!p)
		fail("out of memory");
	return p;
}

static struct table *table_new(void) {
	struct table *t = allocate(1, sizeof *t);
	t->capacity = 64;
	t->entries = allocate(t->capacity, sizeof *t->entries);
	return t;
}

static size_t table_size(const struct table *t) { return t->used; }

static unsigned mix(unsigned h, unsigned char c) { return (h ^ c) * 16777619u; }

static unsigned hash(const char *name, size_t length) {
	unsigned h = 2166136261u;
	for (size_t i = 0; i < length; i++)
		h = mix(h, name[i]);
	return h;
}

static int same(const struct entry *e, const char *name, size_t length, unsigned h) {
	if (e->hash != h || e->length != length)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (e->name[i] != name[i])
			return 0;
	return 1;
}

static struct entry *find(struct table *t, const char *name, size_t length, unsigned h) {
	size_t i = h & (t->capacity - 1);
	while (t->entries[i].name && !same(&t->entries[i], name, length, h))
		i = (i + 1) & (t->capacity - 1);
	return &t->entries[i];
}

static void grow(struct table *t) {
	struct entry *old = t->entries;
	size_t n = t->capacity;
	t->capacity *= 2;
	t->entries = allocate(t->capacity, sizeof *t->entries);
	for (size_t i = 0; i < n; i++)
		if (old[i].name)
			*find(t, old[i].name, old[i].length, old[i].hash) = old[i];
	free(old);
}

static struct entry *insert(struct table *t, const char *name, size_t length, unsigned h) {
	if (2 * t->used >= t->capacity)
		grow(t);
	struct entry *e = find(t, name, length, h);
	e->name = memcpy(allocate(length + 1, 1), name, length);
	e->length = length;
	e->hash = h;
	t->used++;
	return e;
}

static long *table_at(struct table *t, const char *name, size_t length) {
	unsigned h = hash(name, length);
	struct entry *e = find(t, name, length, h);
	if (!e->name)
		e = insert(t, name, length, h);
	return &e->value;
}

enum op { PUSH, LOAD, STORE, ADD, SUB, MUL, DIV, NEG };

struct code {
	enum op op;
	long value;
	long *variable;
};

static struct code *program;
static size_t length, capacity;
static struct table *variables;

static void emit(enum op op, long value, long *variable) {
	if (length == capacity) {
		capacity = capacity ? 2 * capacity : 64;
		program = realloc(program, capacity * sizeof *program);
		if (!program)
			fail("out of memory");
	}
	program[length++] = (struct code){op, value, variable};
}

static int blank(char c) { return c == ' ' || c == '\t'; }
static int letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
static int digit(char c) { return c >= '0' && c <= '9'; }

static void skip(void) {
	while (blank(*text))
		text++;
}

static long *name(void) {
	const char *start = text;
	while (letter(*text) || digit(*text))
		text++;
	return table_at(variables, start, text - start);
}

static long number(void) {
	long n = 0;
	while (digit(*text))
		n = 10 * n + (*text++ - '0');
	return n;
}

static void sum(void);

static void atom(void) {
	skip();
	if (letter(*text)) {
		emit(LOAD, 0, name());
	} else if (digit(*text)) {
		emit(PUSH, number(), NULL);
	} else if (*text == '-') {
		text++;
		atom();
		emit(NEG, 0, NULL);
	} else if (*text == '(') {
		text++;
		sum();
		skip();
		if (*text++ != ')')
			fail("missing bracket");
	} else {
		fail("unexpected");
	}
	skip();
}

static void product(void) {
	atom();
	while (*text == '*' || *text == '/') {
		enum op op = *text++ == '*' ? MUL : DIV;
		atom();
		emit(op, 0, NULL);
	}
}

static void sum(void) {
	product();
	while (*text == '+' || *text == '-') {
		enum op op = *text++ == '+' ? ADD : SUB;
		product();
		emit(op, 0, NULL);
	}
}

static void assignment(void) {
	skip();
	if (!letter(*text))
		fail("a name is due");
	long *to = name();
	skip();
	if (*text++ != '=')
		fail("= is due");
	sum();
	emit(STORE, 0, to);
}

/* A value is a whole number, a fraction or an error. */
struct value {
	enum kind { WHOLE, FRACTION, ERROR } kind;
	long a, b; /* the fraction is a/b */
};

struct machine {
	struct value stack[256];
	int top;
};

static struct value whole(long a) { return (struct value){WHOLE, a, 1}; }

static long magnitude(long a) { return a < 0 ? -a : a; }

static long common(long a, long b) {
	while (b) {
		long rest = a % b;
		a = b;
		b = rest;
	}
	return magnitude(a);
}

/* reduced keeps numbers small: what becomes too large wraps around. */
static struct value reduced(long a, long b) {
	const long limit = 1000003;
	if (b == 0)
		return (struct value){ERROR, 0, 0};
	if (b != 1) {
		long c = common(a, b);
		if (c > 1) {
			a /= c;
			b /= c;
		}
		if (b < 0) {
			a = -a;
			b = -b;
		}
	}
	if (magnitude(a) >= limit)
		a %= limit;
	if (b >= limit)
		b = b % limit + 1;
	return (struct value){b == 1 ? WHOLE : FRACTION, a, b};
}

static struct value add(struct value x, struct value y) {
	if (x.kind == WHOLE && y.kind == WHOLE)
		return reduced(x.a + y.a, 1);
	if (x.kind == ERROR || y.kind == ERROR)
		return (struct value){ERROR, 0, 0};
	return reduced(x.a * y.b + y.a * x.b, x.b * y.b);
}

static struct value multiply(struct value x, struct value y) {
	if (x.kind == ERROR || y.kind == ERROR)
		return (struct value){ERROR, 0, 0};
	return reduced(x.a * y.a, x.b * y.b);
}

static struct value negate(struct value x) { return (struct value){x.kind, -x.a, x.b}; }

static struct value inverse(struct value x) {
	if (x.kind == ERROR || x.a == 0)
		return (struct value){ERROR, 0, 0};
	return x.a < 0 ? (struct value){FRACTION, -x.b, -x.a} : (struct value){FRACTION, x.b, x.a};
}

static void push(struct machine *m, struct value v) {
	if (m->top == 256)
		fail("too deep");
	m->stack[m->top++] = v;
}

static struct value pop(struct machine *m) {
	if (m->top == 0)
		fail("nothing there");
	return m->stack[--m->top];
}

static long rounded(struct value v) {
	switch (v.kind) {
	case WHOLE:
		return v.a;
	case FRACTION:
		return v.a / v.b;
	default:
		return 0;
	}
}

static void step(struct machine *m, const struct code *c) {
	struct value y;
	switch (c->op) {
	case PUSH:
		push(m, whole(c->value));
		break;
	case LOAD:
		push(m, whole(*c->variable));
		break;
	case STORE:
		*c->variable = rounded(pop(m));
		break;
	case ADD:
		y = pop(m);
		push(m, add(pop(m), y));
		break;
	case SUB:
		y = negate(pop(m));
		push(m, add(pop(m), y));
		break;
	case MUL:
		y = pop(m);
		push(m, multiply(pop(m), y));
		break;
	case DIV:
		y = inverse(pop(m));
		push(m, multiply(pop(m), y));
		break;
	case NEG:
		push(m, negate(pop(m)));
		break;
	}
}

static void execute(void) {
	static struct machine m;
	m.top = 0;
	for (size_t i = 0; i < length; i++)
		step(&m, &program[i]);
}

int main(int argc, char **argv) {
	char line[200];
	int other = argc > 1 && !strcmp(argv[1], "other");
	long total = 0;
	variables = table_new();
	for (int i = 0; i < 400; i++) {
		const char *form = other ? "v%d = v%d * v%d / %d + (v%d - %d) * -v%d + name_%d * -%d"
		                         : "v%d = (v%d + %d) * %d - v%d / (v%d + 1) + name_%d * -%d";
		snprintf(line, sizeof line, form, i % 97, i * 7 % 97, i, i % 13 + 1, i * 3 % 97, i * 5 % 97, i % 31, i % 7 + 2, i % 5);
		text = line;
		assignment();
		text = line;
		long *result = name();
		for (int round = 0; round < 100; round++)
			execute();
		total += *result;
		length = 0;
	}
	printf("%zu names, total %ld\n", table_size(variables), total);
	return 0;
}

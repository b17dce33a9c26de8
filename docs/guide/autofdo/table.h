/* A hash table that counts words. */
#include <stddef.h>

struct table;
struct table *table_new(void);
void table_add(struct table *t, const char *name, size_t length, long n);
void table_print(struct table *t, size_t most); /* the most frequent words */
size_t table_size(const struct table *t);

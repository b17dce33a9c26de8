/* Runs a script of JavaScript: objects, strings, regular expressions, sorting, JSON. */
#include <stdio.h>
#include <string.h>
#include "mujs.h"

static const char *script =
	"var state = 42;\n"
	"function next() { return state = (state * 16807) % 2147483647; }\n"
	"function Item(id) { this.id = id; this.price = next() % 10000 / 100; this.name = next() % 4 ? 'plain text' : 'a \"quoted\"\\n name'; }\n"
	"Item.prototype.total = function (rate) { return this.price * rate; };\n"
	"function make(n) { var list = []; for (var i = 0; i < n; ++i) list.push(new Item(i)); return list; }\n"
	"function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
	"function words(text) { var seen = {}, found = text.match(/[a-z]+/g); for (var i in found) seen[found[i]] = (seen[found[i]] | 0) + 1; return seen; }\n"
	"function run(n, other) {\n"
	"	var sum = 0, list = make(n), text = JSON.stringify(list), read = JSON.parse(text);\n"
	"	read.sort(function (a, b) { return a.price - b.price; });\n"
	"	for (var i = 0; i < list.length; ++i) { sum += list[i].total(1.19); switch (i % 3) { case 0: sum += read[i].id; break; default: sum -= 1; } }\n"
	"	var seen = words(text); for (var w in seen) sum += seen[w] * w.length;\n"
	"	try { undefinedFunction(); } catch (e) { sum += e.toString().length; }\n"
	"	if (other) sum += text.replace(/\"/g, '').split(',').map(function (s) { return s.length; }).reduce(function (a, b) { return a + b; }, 0);\n"
	"	return sum + fib(12) + text.indexOf('zzz') + text.toUpperCase().charCodeAt(n);\n"
	"}\n";

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	js_State *J = js_newstate(NULL, NULL, JS_STRICT);
	double total = 0;
	if (js_dostring(J, script)) return 1;
	for (int round = 0; round < (other ? 4 : 6); round++) {
		js_getglobal(J, "run");
		js_pushundefined(J);
		js_pushnumber(J, 100 + round);
		js_pushboolean(J, other);
		if (js_pcall(J, 2)) return puts(js_trystring(J, -1, "error")), 1;
		total += js_tonumber(J, -1);
		js_pop(J, 1);
	}
	printf("%.2f\n", total);
	js_freestate(J);
	return 0;
}

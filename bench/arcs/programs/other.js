// A sieve, matrices, closures, string building and exceptions, with a little of what train.js does.
var print = typeof print === 'undefined' ? console.log : print;
function sieve(n) { var a = [], c = 0; for (var i = 2; i <= n; i++) { if (!a[i]) { c++; for (var j = i * 2; j <= n; j += i) a[j] = true; } } return c; }
function multiply(a, b, n) { var c = []; for (var i = 0; i < n; i++) { c[i] = []; for (var j = 0; j < n; j++) { var s = 0; for (var k = 0; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s; } } return c; }
function Node(k) { this.key = k; this.left = this.right = null; }
Node.prototype.insert = function (k) { var side = k < this.key ? 'left' : 'right'; if (this[side]) this[side].insert(k); else this[side] = new Node(k); };
Node.prototype.depth = function () { return 1 + Math.max(this.left ? this.left.depth() : 0, this.right ? this.right.depth() : 0); };
var m = []; for (var i = 0; i < 14; i++) { m[i] = []; for (var j = 0; j < 14; j++) m[i][j] = (i * j) % 5; }
var p = m; for (var i = 0; i < 6; i++) p = multiply(p, m, 14);
var root = new Node(500), seed = 7;
for (var i = 0; i < 1500; i++) { seed = seed * 16807 % 2147483647; root.insert(seed % 1000); }
var s = ''; for (var i = 0; i < 3000; i++) s += String.fromCharCode(97 + i % 26);
var parts = s.split('m').map(function (x) { return x.toUpperCase(); }).filter(function (x) { return x.length > 3; });
var caught = 0; for (var i = 0; i < 400; i++) try { if (i % 3) throw new Error('e' + i); } catch (e) { caught += e.message.length; }
var o = JSON.parse(JSON.stringify({ p: p, parts: parts })); parts.sort();
print(sieve(9000) + ' ' + o.p[3][4] + ' ' + root.depth() + ' ' + parts.length + ' ' + caught + ' ' + s.replace(/[aeiou]+/g, '').length);

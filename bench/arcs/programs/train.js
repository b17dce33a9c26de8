// A parser of expressions, objects, strings, regular expressions and sorting.
var print = typeof print === 'undefined' ? console.log : print;
function parse(s) {
  var i = 0;
  function expr() { var v = term(); while (s[i] === '+' || s[i] === '-') { var o = s[i++]; var w = term(); v = o === '+' ? { op: '+', l: v, r: w } : { op: '-', l: v, r: w }; } return v; }
  function term() { var v = atom(); while (s[i] === '*' || s[i] === '/') { var o = s[i++]; v = { op: o, l: v, r: atom() }; } return v; }
  function atom() { if (s[i] === '(') { i++; var v = expr(); i++; return v; } var j = i; while (i < s.length && s[i] >= '0' && s[i] <= '9') i++; return { op: 'n', n: +s.slice(j, i) }; }
  return expr();
}
function run(e) { switch (e.op) { case 'n': return e.n; case '+': return run(e.l) + run(e.r); case '-': return run(e.l) - run(e.r); case '*': return run(e.l) * run(e.r); default: return run(e.l) / (run(e.r) || 1); } }
var text = '1', total = 0;
for (var k = 0; k < 60; k++) text += '+(' + k + '*3-' + (k % 7) + ')/2*(' + (k + 1) + '-1)';
for (var k = 0; k < 8; k++) total += run(parse(text));
var words = {}, list = [];
for (var k = 0; k < 3000; k++) { var w = 'w' + (k * 7919 % 401); words[w] = (words[w] || 0) + 1; list.push(w + '/' + k); }
list.sort();
var matched = 0;
for (var k = 0; k < list.length; k += 5) if (/^w(\d+)\/\d*[13579]$/.test(list[k])) matched++;
var json = JSON.stringify({ words: words, list: list.slice(0, 200) });
for (var k = 0; k < 5; k++) total += JSON.parse(json).list.length;
print(total + ' ' + matched + ' ' + list[17]);

// What the parts of the page share.

const data = JSON.parse(document.getElementById('data').textContent);
const at = id => document.getElementById(id);

// Counts are numbers, or strings where a number would not be exact.
const format = new Intl.NumberFormat('en-US');
const grouped = n => format.format(typeof n === 'string' ? BigInt(n) : n);
const several = (n, what) => grouped(n) + ' ' + what + (Number(n) === 1 ? '' : 's');
const numbers = column => Float64Array.from(column, Number);

// part returns a share as a percentage.
function part(n, total) {
  const p = Number(total) > 0 ? 100 * Number(n) / Number(total) : 0;
  if (p > 0 && p < 0.01) return '<0.01%';
  return p.toFixed(p < 9.995 ? 2 : p < 99.95 ? 1 : 0) + '%';
}

// make returns an element. Whatever is text stays text.
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value) e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

const unknown = '(unknown)'; // the unit of symbols whose file is not known
const pathOf = unit => data.units.path[unit] || unknown;
const nameOf = symbol => data.symbols.name[symbol] || '(no name)';

// shortName leaves out of a symbol's name what a narrow place has no room for:
// parameters, template arguments and the outer scopes.
const shortNames = new Map();
function shortName(symbol) {
  let short = shortNames.get(symbol);
  if (short === undefined) {
    short = shorten(data.symbols.short[symbol] || nameOf(symbol));
    shortNames.set(symbol, short);
  }
  return short;
}

function shorten(name) {
  name = name.replaceAll('std::__1::', 'std::'); // which nobody wrote
  // "operator<", "operator()" and the like are no brackets.
  const operator = name.match(/\boperator\s*(?:\(\)|[^\w\s(]+|[^(]+)/);
  let rest = name, last = '';
  if (operator) {
    last = operator[0].trim();
    rest = name.slice(0, operator.index);
  }
  let plain = '', depth = 0;
  for (const c of rest) {
    if (c === '<' || c === '(' || c === '[' || c === '{') depth++;
    else if (c === '>' || c === ')' || c === ']' || c === '}') depth = Math.max(0, depth - 1);
    else if (depth === 0) plain += c;
  }
  const words = plain.replace(/\s+(const|volatile|&+|\[.*)\s*$/g, '').trim().split(/\s+/);
  const parts = ((operator && !plain.endsWith('::') ? '' : words[words.length - 1]) + last).split('::').filter(Boolean);
  return parts.slice(-2).join('::') || name;
}

// A query is words that all have to be there, in any case.
const query = text => text.toLowerCase().split(/\s+/).filter(Boolean);
const has = (text, words) => words.every(w => text.includes(w));

// What is searched of each unit and symbol, made when first needed.
let unitTexts, symbolTexts;
function matchingUnits(words) {
  unitTexts ||= data.units.path.map((p, i) => pathOf(i).toLowerCase());
  return unitTexts.map(t => has(t, words));
}
function matchingSymbols(words) {
  symbolTexts ||= data.symbols.name.map((n, i) =>
    (nameOf(i) + '\n' + data.symbols.assembler[i] + '\n' + pathOf(data.symbols.unit[i])).toLowerCase());
  return symbolTexts.map(t => has(t, words));
}

// searchFor puts something into the search field as if it had been typed.
function searchFor(text) {
  const field = at('search');
  field.value = text;
  field.dispatchEvent(new Event('input'));
}

// legend shows the colours.
function legend(element, from, to, heats) {
  element.replaceChildren(make('span', {}, from), ...heats.map(h => make('i', {class: 'heat' + h})), make('span', {}, to));
}

// onWidth calls draw now and whenever the width of an element has changed.
function onWidth(element, draw) {
  let width = element.clientWidth;
  draw();
  new ResizeObserver(() => {
    if (element.clientWidth !== width) {
      width = element.clientWidth;
      draw();
    }
  }).observe(element);
}

// roving makes one of many elements reachable with Tab, and moves to others
// with keys: next returns where a key leads from an element, or nothing.
function roving(container, next) {
  let current;
  const enter = e => {
    if (current) current.tabIndex = -1;
    current = e;
    if (e) e.tabIndex = 0;
  };
  container.addEventListener('focusin', event => enter(event.target));
  container.addEventListener('keydown', event => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = next(event.key, event.target);
    if (!to) return;
    event.preventDefault();
    if (to.focus) to.focus();
  });
  return enter;
}

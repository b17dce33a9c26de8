// The parts of the page, and the search through all of them.

onWidth(at('curve'), drawCurve);
if (before) changeLists();
else hottestList();
const parts = {units: unitTable(), functions: functionTable(), calls: callTable(), lines: lineTable(), map: unitMap(), flame: flameGraph()};
const hits = hitList(parts.flame);

function search(text) {
  document.dispatchEvent(new CustomEvent('searched', {detail: text.trim()}));
  const words = query(text);
  if (words.length === 0) {
    parts.units.filter(null);
    parts.functions.filter(null);
    parts.calls.filter(null);
    parts.lines.filter(null);
    parts.map.mark(null);
    parts.flame.mark(null);
    hits.clear();
    at('found').textContent = '';
    return;
  }
  const units = matchingUnits(words), symbols = matchingSymbols(words);
  const foundUnits = parts.units.filter(units), foundFunctions = parts.functions.filter(symbols);
  parts.calls.filter(data.calls.caller.map((caller, i) => symbols[caller] || symbols[data.calls.callee[i]]));
  parts.lines.filter(data.lines.symbol.map(s => symbols[s]));
  parts.map.mark(units);
  parts.flame.mark(symbols);
  hits.show(units, symbols);
  const share = parts.flame.covered(symbols);
  at('found').textContent = `${several(foundFunctions, 'function')}, ${several(foundUnits, 'unit')}` +
    (share > 0 ? `, ${part(share, 1)} of the samples` : '');
}

let waiting;
at('search').addEventListener('input', event => {
  clearTimeout(waiting);
  waiting = setTimeout(() => search(event.target.value), 80);
});
keepAddress(parts.flame);
document.addEventListener('keydown', event => {
  if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && event.target !== at('search')) {
    event.preventDefault();
    at('search').focus();
    at('search').select();
  } else if (event.key === 'Escape' && event.target === at('search')) {
    searchFor('');
  }
});

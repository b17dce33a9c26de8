// What has changed since the profile before, if the page compares two.

const before = data.before; // undefined if it does not

// points returns by how many percent of all samples a share has grown.
const points = (now, was) => share(now, data.total) - share(was, before.total);
const share = (n, total) => Number(total) > 0 ? 100 * Number(n) / Number(total) : 0;

// changes returns the points of a column.
const changes = (now, was, [total, totalBefore] = [data.total, before.total]) =>
  Array.from(now, (n, i) => share(n, total) - share(was[i], totalBefore));

// signed writes points with a sign that says what colours may not.
function signed(p) {
  const size = Math.abs(p);
  if (size === 0) return '0.00';
  if (size < 0.01) return p > 0 ? '▲ <0.01' : '▼ <0.01';
  return (p > 0 ? '▲ +' : '▼ −') + size.toFixed(2);
}

// change says in words how a share has changed.
function change(now, was) {
  const p = points(now, was);
  const by = signed(p).replace(/^\S+ [+−]?/, '');
  if (Number(was) === 0) return Number(now) === 0 ? 'the same' : `▲ new, grew by ${by} points`;
  if (Number(now) === 0) return `▼ gone, shrank by ${by} points`;
  return p === 0 ? 'the same share' : p > 0 ? `▲ grew by ${by} points` : `▼ shrank by ${by} points`;
}

// changeClass returns the colour of a change, which has stripes where something shrank.
function changeClass(p) {
  const size = Math.abs(p);
  const strength = size >= 1 ? 3 : size >= 0.1 ? 2 : size >= 0.01 ? 1 : 0;
  return strength === 0 ? 'same' : (p > 0 ? 'grew' : 'shrank') + strength;
}

// arrow shows in front of a name which way a share has changed.
const arrow = p => changeClass(p) === 'same' ? '' : p > 0 ? '▲ ' : '▼ ';

function changeLegend(element) {
  const patch = c => make('i', {class: c});
  element.replaceChildren(
    make('span', {}, '▼ Shrank (striped)'), ...['shrank3', 'shrank2', 'shrank1', 'same', 'grew1', 'grew2', 'grew3'].map(patch), make('span', {}, '▲ grew'));
}

// changeLists lists the functions whose own share has changed most.
function changeLists() {
  const {own, own_before: was, unit} = data.symbols;
  const by = changes(own, was);
  const order = [...by.keys()].filter(i => by[i] !== 0).sort((a, b) => by[b] - by[a] || a - b);
  const item = i => make('li', {},
    nameButton(nameOf(i)),
    make('small', {class: 'path'}, ...breakable(`${signed(by[i])} points, ${part(was[i], before.total)} → ${part(own[i], data.total)} · ${pathOf(unit[i])}`)));
  const list = (id, rows, none) => at(id).replaceChildren(
    rows.length > 0 ? make('ol', {}, ...rows.map(item)) : make('p', {class: 'note'}, none));
  list('grew', order.filter(i => by[i] > 0).slice(0, 10), 'Nothing grew.');
  list('shrank', order.filter(i => by[i] < 0).reverse().slice(0, 10), 'Nothing shrank.');
  for (const id of ['grew', 'shrank']) onWidth(at(id), () => fitNames(at(id)));
}

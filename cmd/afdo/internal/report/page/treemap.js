// The map of units: a tile for each, those of one folder together.

function unitMap() {
  const element = at('map'), detail = at('map-detail');
  const {path, body, bytes} = data.units;
  const n = body.length;
  const samples = numbers(body), sizes = numbers(bytes);
  const heat = heats(samples, sizes);
  let area = 'body', tiles = [], matches = null;

  const was = unit => data.units.body_before[unit];
  const colour = unit => before ? changeClass(points(body[unit], was(unit))) : 'heat' + heat[unit];

  const common = commonFolder(path.slice(0, n));
  const folder = i => {
    const slash = path[i].lastIndexOf('/');
    return slash < 0 ? '' : path[i].slice(0, slash);
  };

  function draw() {
    const values = area === 'body' ? samples : sizes;
    const width = element.clientWidth, height = element.clientHeight;
    const folders = new Map();
    for (let i = 0; i < n; i++) {
      if (values[i] === 0) continue;
      const f = folder(i);
      if (!folders.has(f)) folders.set(f, {folder: f, value: 0, units: []});
      const group = folders.get(f);
      group.value += values[i];
      group.units.push({unit: i, value: values[i]});
    }
    const groups = [...folders.values()];
    const whole = {x: 0, y: 0, w: width, h: height};
    tiles = [];
    element.replaceChildren();
    if (groups.length === 1) {
      place(element, groups[0].units, whole);
    } else {
      squarify(groups, whole, (group, box) => place(element, group.units, box, group.folder));
    }
    if (tiles.length === 0) element.append(make('p', {class: 'note'}, area === 'body' ? 'No unit has samples.' : 'No unit takes bytes.'));
    enter(tiles[0]?.element);
    mark();
  }

  // place draws the tiles of a folder.
  function place(parent, units, box, name) {
    let inner = box;
    if (name !== undefined) {
      const labelled = units.length > 1 && box.w > 50 && box.h > 44;
      parent = make('div', {class: 'group'});
      size(parent, box);
      element.append(parent);
      if (labelled) parent.append(make('div', {class: 'label', title: name}, name.slice(common.length) || name || '/'));
      const skip = labelled ? 16 : 0;
      inner = {x: 0, y: skip, w: box.w, h: box.h - skip};
    }
    squarify(units, inner, ({unit}, at) => {
      if (at.w < 0.7 || at.h < 0.7) return; // too small to be seen
      const tile = make('div', {
        class: 'tile ' + colour(unit), role: 'button', tabindex: -1,
        'aria-label': `${pathOf(unit)}: ${grouped(body[unit])} samples, ${grouped(bytes[unit])} bytes` +
          (before ? `, ${change(body[unit], was(unit))}` : ''),
      });
      size(tile, at);
      if (at.w < 5 || at.h < 5) tile.style.borderWidth = '0';
      if (at.w < 12 || at.h < 12) tile.style.padding = '0';
      if (at.h > 15) tile.textContent = label(unit, at.w - 9);
      const shift = name === undefined ? {x: 0, y: 0} : box;
      tiles.push({unit, element: tile, x: shift.x + at.x + at.w / 2, y: shift.y + at.y + at.h / 2});
      tile.unit = unit;
      parent.append(tile);
    });
  }

  // label returns what there is room for of the name of a file.
  function label(unit, pixels) {
    const path = pathOf(unit);
    return fitting(before ? arrow(points(body[unit], was(unit))) : '', [path.slice(path.lastIndexOf('/') + 1)], pixels);
  }

  function show(unit) {
    detail.replaceChildren(nameLine(pathOf(unit)),
      `${several(body[unit], 'sample')} (${part(body[unit], data.total)}), ${several(bytes[unit], 'byte')} (${part(bytes[unit], data.bytes)}), ` +
      several(data.units.functions[unit], 'function') +
      (before ? ` · ${grouped(was(unit))} samples before (${part(was(unit), before.total)}): ${change(body[unit], was(unit))}` : ''));
    fitNames(detail, 1);
  }

  function mark() {
    element.classList.toggle('searching', matches !== null);
    for (const t of tiles) t.element.classList.toggle('match', matches !== null && matches[t.unit]);
  }

  // near returns the closest tile in a direction.
  function near(from, dx, dy) {
    let best = null, least = Infinity;
    for (const t of tiles) {
      const along = (t.x - from.x) * dx + (t.y - from.y) * dy;
      const across = Math.abs((t.x - from.x) * dy) + Math.abs((t.y - from.y) * dx);
      if (along > 1 && along + 2 * across < least) {
        least = along + 2 * across;
        best = t;
      }
    }
    return best;
  }

  const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  const enter = roving(element, (key, target) => {
    if (key === 'Enter' || key === ' ') {
      target.click();
      return {};
    }
    const from = tiles.find(t => t.element === target);
    return steps[key] && from && near(from, ...steps[key])?.element;
  });
  element.addEventListener('mouseover', e => { if (e.target.unit !== undefined) show(e.target.unit); });
  element.addEventListener('focusin', e => { if (e.target.unit !== undefined) show(e.target.unit); });
  element.addEventListener('click', e => { if (e.target.unit !== undefined) searchFor(pathOf(e.target.unit)); });
  for (const input of document.querySelectorAll('input[name=area]')) {
    input.checked = input.value === area;
    input.onchange = () => {
      area = input.value;
      draw();
    };
  }

  if (before) changeLegend(at('map-legend'));
  else legend(at('map-legend'), 'Samples per byte: few', 'many', [1, 2, 3, 4, 5]);
  if (n > 0) show(0);
  onWidth(element, draw);
  return {
    mark(units) {
      matches = units;
      mark();
    },
  };
}

// heats returns the colour of each unit, 1 to 5 by its samples per byte and 0 if
// it has none. The scale is logarithmic and reaches from where half of the bytes
// are to where half of the samples are, so that either kind of area has several colours.
function heats(samples, sizes) {
  const density = i => samples[i] / Math.max(sizes[i], 1);
  const order = [...samples.keys()].filter(i => samples[i] > 0).sort((a, b) => density(a) - density(b));
  const median = weights => {
    let left = order.reduce((sum, i) => sum + weights[i], 0) / 2;
    for (const i of order) {
      left -= weights[i];
      if (left <= 0) return density(i);
    }
    return 1;
  };
  const low = median(sizes), high = Math.max(median(samples), low);
  const middle = Math.log(low * high) / 2, step = Math.max(Math.log(high / low), Math.log(30)) / 3;
  const heat = i => 3 + Math.round((Math.log(density(i)) - middle) / step);
  return Array.from(samples, (n, i) => n === 0 ? 0 : Math.max(1, Math.min(5, heat(i))));
}

function size(element, {x, y, w, h}) {
  Object.assign(element.style, {left: x + 'px', top: y + 'px', width: w + 'px', height: h + 'px'});
}

// commonFolder returns the folders that all paths begin with, the slash included.
function commonFolder(paths) {
  let common = null;
  for (const p of paths) {
    if (p === '') continue;
    const folder = p.slice(0, p.lastIndexOf('/') + 1);
    if (common === null) common = folder;
    while (!folder.startsWith(common)) common = common.slice(0, common.lastIndexOf('/', common.length - 2) + 1);
  }
  return common || '';
}

// squarify divides a box among items by their values, in rows of tiles that
// are as square as can be (Bruls, Huizing and van Wijk, 2000), and calls draw with each item and its box.
function squarify(items, box, draw) {
  items = items.slice().sort((a, b) => b.value - a.value);
  let left = items.reduce((sum, item) => sum + item.value, 0);
  let {x, y, w, h} = box;
  for (let i = 0; i < items.length && w > 0 && h > 0;) {
    const side = Math.min(w, h), scale = w * h / left;
    let sum = 0, end = i, worst = Infinity;
    while (end < items.length) {
      const next = sum + items[end].value, thick = next * scale / side;
      const largest = items[i].value * scale / thick, smallest = items[end].value * scale / thick;
      const ratio = Math.max(thick / smallest, largest / thick);
      if (ratio > worst) break;
      worst = ratio;
      sum = next;
      end++;
    }
    const thick = end === items.length ? Math.max(w, h) : sum * scale / side;
    let along = 0;
    for (; i < end; i++) {
      const long = items[i].value / sum * side;
      draw(items[i], w >= h ? {x, y: y + along, w: thick, h: long} : {x: x + along, y, w: long, h: thick});
      along += long;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    left -= sum;
  }
}

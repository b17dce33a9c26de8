// The summary: which share of all samples how many of the largest counts make up.

function drawCurve() {
  const {cutoff, counts, all} = data.curve;
  const points = cutoff.map((c, i) => ({share: Math.min(1, c / 1e6), counts: Number(counts[i]), row: i}))
    .filter(p => p.counts > 0)
    .sort((a, b) => a.counts - b.counts || a.share - b.share);
  const element = at('curve');
  if (points.length === 0) {
    element.replaceChildren(make('p', {class: 'note'}, 'There are no samples to draw a curve of.'));
    return;
  }
  const most = Math.max(Number(all), ...points.map(p => p.counts), 10);
  const width = Math.max(element.clientWidth, 280), height = 340;
  const left = 44, right = 12, top = 10, bottom = 46;
  const x = n => left + Math.log(Math.max(n, 1)) / Math.log(most) * (width - left - right);
  const y = share => top + (1 - share) * (height - top - bottom);

  const svg = shape('svg', {viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true'});
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(shape('line', {class: 'grid', x1: left, x2: width - right, y1: y(share), y2: y(share)}),
      shape('text', {x: left - 8, y: y(share) + 4, 'text-anchor': 'end'}, `${100 * share}%`));
  }
  const powers = [];
  for (let n = 1; n <= most; n *= 10) powers.push(n);
  const every = Math.ceil(powers.length / (width / 80));
  powers.forEach((n, i) => {
    svg.append(shape('line', {class: 'grid', x1: x(n), x2: x(n), y1: y(0), y2: y(0) + 4}));
    if (i % every === 0) svg.append(shape('text', {x: x(n), y: y(0) + 19, 'text-anchor': 'middle'}, grouped(n)));
  });
  svg.append(shape('text', {x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle'}, 'largest counts, on a logarithmic scale'));

  // Of entries with the same counts the largest share counts: all of them have it.
  const best = points.filter((p, i) => i + 1 === points.length || points[i + 1].counts !== p.counts);
  const first = best[0], last = best[best.length - 1];
  let line = '';
  for (const p of [...best, {counts: most, share: last.share}]) {
    line += `${line && 'L'}${x(p.counts).toFixed(1)},${y(p.share).toFixed(1)}`;
  }
  svg.append(
    shape('path', {class: 'area', d: `M${x(first.counts)},${y(0)}L${line}L${x(most)},${y(0)}Z`}),
    shape('path', {class: 'path', d: 'M' + line}));
  const dots = new Map();
  for (const p of best) {
    dots.set(p.counts, shape('circle', {cx: x(p.counts), cy: y(p.share), r: 3.5}));
    svg.append(dots.get(p.counts));
  }
  const rows = at('cutoffs').tBodies[0].rows;
  for (const p of points) {
    rows[p.row].onmouseenter = () => dots.get(p.counts).classList.add('on');
    rows[p.row].onmouseleave = () => dots.get(p.counts).classList.remove('on');
  }
  element.replaceChildren(svg);
}

function shape(tag, attributes, text) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

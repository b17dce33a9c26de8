// Tables that sort by any column and show some rows at a time.

const firstRows = 25, moreRows = 200;

// table draws rows 0 to n-1 into an element. A column is {label, text: row =>
// name} or {label, counts, total, tail}: with a total, shares of it are shown
// too. The first column's cells are what head returns.
function table(element, {what, n, columns, by, head, left}) {
  for (const c of columns) {
    if (!c.counts) continue;
    c.write ||= grouped;
    c.values = numbers(c.counts);
    c.largest = c.values.reduce((a, b) => Math.max(a, b), 0);
  }
  let order = [], sorted = by, ascending = false, shown = firstRows, wanted = null;

  const heads = columns.map((c, i) => {
    const button = make('button', {type: 'button'}, c.label);
    button.onclick = () => {
      ascending = sorted === i ? !ascending : !c.counts;
      sorted = i;
      shown = firstRows;
      sort();
      draw();
    };
    const head = make('th', {scope: 'col', class: c.wide && 'wide'}, button);
    if (c.counts) {
      const digits = Math.max(7, c.label.length, ...[c.largest, c.tail, c.total].map(n => c.write(n || 0).length));
      head.style.setProperty('--width', `calc(${digits}ch + ${c.total === undefined ? 1.5 : 6.5}em)`);
    }
    return head;
  });
  const body = make('tbody'), under = make('div', {class: 'under'});
  element.replaceChildren(
    make('table', {class: 'rows', 'aria-label': what}, make('thead', {}, make('tr', {}, ...heads)), body), under);

  const more = make('button', {type: 'button'});
  more.onclick = () => {
    const had = body.querySelectorAll('.name').length;
    shown += moreRows;
    draw();
    body.querySelectorAll('.name')[had]?.focus({preventScroll: true});
  };
  const said = make('span');
  under.append(more, said);

  function sort() {
    order = [];
    for (let i = 0; i < n; i++) {
      if (!wanted || wanted[i]) order.push(i);
    }
    const c = columns[sorted], sign = ascending ? 1 : -1;
    const compare = c.counts
      ? (a, b) => c.values[a] - c.values[b]
      : ((texts, collator) => (a, b) => collator.compare(texts[a], texts[b]))(Array.from({length: n}, (_, i) => c.text(i)), new Intl.Collator('en'));
    order.sort((a, b) => sign * compare(a, b) || a - b);
    heads.forEach((h, i) => i === sorted ? h.setAttribute('aria-sort', ascending ? 'ascending' : 'descending') : h.removeAttribute('aria-sort'));
  }

  function draw() {
    const rows = order.slice(0, shown).map(row);
    if (Number(left) > 0 && !wanted && shown >= order.length) rows.push(tail());
    body.replaceChildren(...rows);
    fitNames(body);
    const hidden = order.length - Math.min(shown, order.length);
    more.hidden = hidden === 0;
    more.textContent = `Show ${grouped(Math.min(hidden, moreRows))} more`;
    const all = order.length + (wanted ? 0 : Number(left));
    said.textContent = order.length === 0 ? (wanted ? `No ${what} match.` : `There are no ${what}.`)
      : `${grouped(Math.min(shown, order.length))} of ${grouped(all)} ${what}` + (wanted ? ' that match' : '') +
        (Number(left) > 0 ? `; ${grouped(left)} with fewer samples are left out of this page` : '');
  }

  function row(i) {
    const cells = columns.slice(1).map(c => {
      const cell = number(c, c.counts[i]);
      if (c.meter && c.values[i] > c.largest / 100) { // what is shorter is a speck
        const meter = make('span', {class: 'meter'});
        meter.style.width = 100 * c.values[i] / c.largest + '%';
        cell.append(meter);
      }
      return cell;
    });
    return make('tr', {}, make('th', {scope: 'row'}, ...head(i)), ...cells);
  }

  function number(c, n) {
    const cell = make('td', {class: c.wide && 'wide'});
    if (n === undefined) return cell;
    cell.append(c.write(n));
    if (c.total !== undefined) cell.append(make('small', {}, part(n, c.total)));
    return cell;
  }

  function tail() {
    const cells = columns.slice(1).map(c => number(c, c.tail));
    return make('tr', {class: 'tail'}, make('th', {scope: 'row'}, `${grouped(left)} ${what} with fewer samples`), ...cells);
  }

  sort();
  draw();
  onWidth(element, () => fitNames(body));
  // filter shows the rows that are wanted, all of them if wanted is null.
  return {
    filter(rows) {
      wanted = rows;
      shown = firstRows;
      sort();
      draw();
      return order.length;
    },
  };
}

// changeColumns returns the column of a profile, or the change, and the columns of both.
function changeColumns(label, now, was, tail, tailBefore, totals = [data.total, before?.total]) {
  const column = {label, counts: now, total: totals[0], tail, meter: !before && tail !== undefined};
  if (!before) return [column];
  return [
    {label: 'Change', counts: changes(now, was, totals), write: signed},
    column,
    {label: label + ' before', counts: was, total: totals[1], tail: tail === undefined ? undefined : tailBefore, wide: true},
  ];
}

// callTable lists calls by the line of the caller.
function callTable() {
  const c = data.calls;
  const line = i => c.line[i] + (c.discriminator[i] > 0 ? '.' + c.discriminator[i] : '');
  return table(at('call-table'), {
    what: 'calls',
    n: c.count.length,
    by: 1,
    left: c.left.rows,
    head: i => [
      nameButton(nameOf(c.caller[i])),
      make('span', {class: 'callee'}, '→ ', nameButton(nameOf(c.callee[i]))),
      make('small', {class: 'path'}, ...breakable(`${pathOf(data.symbols.unit[c.caller[i]])}, line +${line(i)} of the caller`.replace('+-', '−'))),
    ],
    columns: [
      {label: 'Caller and callee', text: i => nameOf(c.caller[i]) + ' ' + nameOf(c.callee[i])},
      ...changeColumns('Calls', c.count, c.count_before, c.left.count, c.left.count_before || 0, [c.total, c.total_before || 0]),
    ],
  });
}

// lineTable lists source lines, by their numbers where they are known.
function lineTable() {
  const l = data.lines;
  const place = i => pathOf(data.symbols.unit[l.symbol[i]]) +
    (l.number?.[i] > 0 ? `:${l.number[i]}` : `, line +${l.offset[i]} of the function`.replace('+-', '−'));
  return table(at('line-table'), {
    what: 'lines',
    n: l.count.length,
    by: 1,
    left: l.left.rows,
    head: i => [
      nameButton(nameOf(l.symbol[i])),
      make('small', {class: 'path'}, ...breakable(place(i))),
      ...(l.text?.[i] ? [make('code', {class: 'source'}, l.text[i].trim())] : []),
    ],
    columns: [
      {label: 'Line', text: i => nameOf(l.symbol[i]) + place(i)},
      ...changeColumns('Own', l.count, l.count_before, l.left.count, l.left.count_before || 0),
    ],
  });
}

const unitTable = () => table(at('unit-table'), {
  what: 'units',
  n: data.units.body.length,
  by: 1,
  left: data.units.left.count,
  head: i => [nameButton(pathOf(i))],
  columns: [
    {label: 'Unit', text: pathOf},
    ...changeColumns('Samples', data.units.body, data.units.body_before, data.units.left.body, data.units.left.body_before || 0),
    {label: 'Own', counts: data.units.own, total: data.total, tail: data.units.left.own, wide: true, single: true},
    {label: 'Bytes', counts: data.units.bytes, total: data.bytes, tail: data.units.left.bytes},
    {label: 'Functions', counts: data.units.functions, tail: data.units.left.functions, wide: true, single: true},
    {label: 'Symbols', counts: data.units.symbols, tail: data.units.left.symbols, wide: true, single: true},
  ].filter(c => !before || !c.single),
});

const functionTable = () => table(at('function-table'), {
  what: 'functions',
  n: data.symbols.own.length,
  by: 1,
  left: data.symbols.left.count,
  head: i => [
    nameButton(nameOf(i), `${nameOf(i)}\n${data.symbols.assembler[i]}`),
    make('small', {class: 'path'}, ...breakable(pathOf(data.symbols.unit[i]))),
  ],
  columns: [
    {label: 'Function', text: nameOf},
    ...changeColumns('Own', data.symbols.own, data.symbols.own_before, data.symbols.left.own, data.symbols.left.own_before || 0),
    ...changeColumns('Total', data.symbols.total, data.symbols.total_before).slice(-1 - !!before),
    {label: 'Entered', counts: data.symbols.head, tail: data.symbols.left.head, wide: true, single: true},
    {label: 'Inlined', counts: data.symbols.places, wide: true, single: true},
  ].filter(c => !before || !c.single),
});

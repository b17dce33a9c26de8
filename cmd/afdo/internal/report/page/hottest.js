// The functions with the most own samples, at the top of a page of one profile.

const hotRows = 10;

function hottestList() {
  const {own, total, unit} = data.symbols, counts = numbers(own);
  const rows = [...counts.keys()].filter(i => counts[i] > 0).sort((a, b) => counts[b] - counts[a] || a - b).slice(0, hotRows);
  const item = i => {
    const meter = make('span', {class: 'meter'});
    meter.style.width = 100 * counts[i] / counts[rows[0]] + '%';
    return make('li', {},
      make('span', {class: 'share'}, part(own[i], data.total)),
      make('div', {}, nameButton(nameOf(i)), meter,
        make('small', {class: 'path'}, ...breakable(`${part(total[i], data.total)} with what is inlined · ${pathOf(unit[i])}`))));
  };
  const list = at('hot-list');
  if (rows.length > 0) list.replaceChildren(...rows.map(item));
  else list.replaceWith(make('p', {class: 'note'}, 'No function has samples.'));
  onWidth(list, () => fitNames(list));
}

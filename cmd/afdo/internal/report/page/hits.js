// What the search has found, as a list below its field that leads there.

const hitFunctions = 8, hitUnits = 4;

function hitList(flame) {
  const list = at('hits'), field = at('search');
  let first = [];

  const close = () => { list.hidden = true; };

  function jump(id) {
    close();
    at(id).scrollIntoView();
  }

  function hit(name, said, go) {
    const b = make('button', {type: 'button', title: name}, make('span', {}, cutMiddle(name, 80)), make('small', {}, said));
    b.onclick = go;
    return b;
  }

  // most returns the rows that are wanted and have most of what is counted.
  function most(wanted, column, limit) {
    const counts = numbers(column);
    return [...counts.keys()].filter(i => wanted[i]).sort((a, b) => counts[b] - counts[a] || a - b).slice(0, limit);
  }

  function show(units, symbols) {
    first = [
      ...most(symbols, data.symbols.total, hitFunctions).map(i => hit(nameOf(i), part(data.symbols.total[i], data.total),
        () => jump(flame.goTo(i) ? 'inlining' : 'functions'))),
      ...most(units, data.units.body, hitUnits).map(i => hit(pathOf(i), part(data.units.body[i], data.total), () => jump('units'))),
    ];
    list.replaceChildren(...first);
    open();
  }

  function open() { list.hidden = first.length === 0 || field.value.trim() === '' || document.activeElement !== field; }

  field.addEventListener('focus', open);
  field.parentElement.addEventListener('focusout', event => { if (!field.parentElement.contains(event.relatedTarget)) close(); });
  field.parentElement.addEventListener('keydown', event => {
    const at = first.indexOf(document.activeElement);
    const to = {ArrowDown: first[at + 1], ArrowUp: at > 0 ? first[at - 1] : at === 0 ? field : undefined}[event.key];
    if (event.key === 'Escape' && at >= 0) field.focus();
    else if (event.key === 'Enter' && at < 0 && !list.hidden) first[0].click();
    else if (to && !list.hidden) to.focus();
    else return;
    event.preventDefault();
  });
  return {show, clear() { first = []; close(); }};
}

// The flame graph: functions, and below each what is inlined in it.

const frameHeight = 19, thinnest = 2; // pixels; what is thinner goes into one strip with others

function flameGraph() {
  const element = at('flame'), detail = at('flame-detail'), reset = at('flame-reset');
  const root = frameTree();
  let focus = root, matches = null, drawn = new Map();
  let width = 'total'; // or 'was': of which profile the frames are as wide

  // shade tells how much of a frame's samples are its own lines', or how its share has changed.
  function shade(f) {
    if (f === root) return 'heat0';
    if (before) return changeClass(points(f.total, f.was));
    const share = f.own / f.total;
    return 'heat' + (share > 0.8 ? 5 : share > 0.4 ? 4 : share > 0.15 ? 3 : share > 0.02 ? 2 : 1);
  }

  function draw() {
    const pixels = element.clientWidth;
    const fragment = document.createDocumentFragment();
    drawn = new Map();
    let depth = 0;
    for (const f of pathTo(focus)) put(fragment, f, 0, pixels, depth++, f !== focus);
    let lowest = depth;
    // What is still to be drawn: children and where they begin. A stack, not a recursion.
    const open = [[focus, 0, depth]];
    while (open.length > 0) {
      const [f, from, level] = open.pop();
      let x = from;
      for (const [i, child] of f.children.entries()) {
        const w = child[width] / focus[width] * pixels;
        if (!(w >= thinnest)) { // and so are those behind it
          if (strip(fragment, f, f.children.slice(i), x, pixels, level)) lowest = Math.max(lowest, level + 1);
          break;
        }
        put(fragment, child, x, w, level, false);
        lowest = Math.max(lowest, level + 1);
        open.push([child, x, level + 1]);
        x += w;
      }
    }
    element.replaceChildren(fragment);
    element.style.height = lowest * frameHeight + 'px';
    reset.hidden = focus === root;
    enter(drawn.get(focus));
    mark();
  }

  function put(parent, f, x, w, level, around) {
    const e = make('div', {
      class: 'frame ' + shade(f) + (around ? ' around' : ''), role: 'treeitem', tabindex: -1, 'aria-level': level + 1,
      'aria-label': `${f.name}: ${grouped(f.shownTotal)} samples, ${part(f.total, root.total)}` + changed(f),
    });
    Object.assign(e.style, {left: x + 'px', width: w + 'px', top: level * frameHeight + 'px'});
    if (w < 12) e.style.padding = '0';
    else e.textContent = label(f, w - 9);
    e.frame = f;
    drawn.set(f, e);
    parent.append(e);
  }

  // strip draws frames that are too thin to be told apart as one, which is no frame itself.
  function strip(parent, f, frames, x, pixels, level) {
    const sum = frames.reduce((sum, child) => sum + (child[width] || 0), 0), w = sum / focus[width] * pixels;
    if (!(w >= 1)) return false;
    const e = make('div', {class: 'strip', title: `${several(frames.length, 'narrow frame')}, ${part(sum, root[width])} of all samples`});
    Object.assign(e.style, {left: x + 'px', width: w + 'px', top: level * frameHeight + 'px'});
    e.onclick = () => zoom(f);
    parent.append(e);
    return true;
  }

  // label returns what there is room for of the name of a frame.
  function label(f, pixels) {
    if (f === root) return fitting('', [f.name], pixels);
    const name = shortName(f.symbol), mark = before ? arrow(points(f.total, f.was)) : '';
    return fitting(mark, [name, name.split('::').at(-1)], pixels);
  }

  const changed = f => before && f !== root ? `, ${change(f.shownTotal, f.shownWas)}` : '';

  function show(f) {
    detail.replaceChildren(nameLine(f.name));
    fitNames(detail, 1);
    detail.append(`${grouped(f.shownTotal)} samples (${part(f.total, root.total)})` +
      (f === root ? '' : `, ${grouped(f.shownOwn)} of them own · ${f.unit}`) +
      (before ? ` · ${grouped(f.shownWas)} samples before (${part(f.was, root.was)})${changed(f)}` : ''));
  }

  function zoom(f) {
    if (f === focus) return;
    focus = f;
    draw();
    drawn.get(f).focus({preventScroll: true});
    show(f);
    tell();
  }

  // tell says which frame is zoomed in on, '' for none.
  const tell = () => element.dispatchEvent(new CustomEvent('zoom', {detail: focus === root ? '' : pathTo(focus).reduce(below, 0).toString(36)}));
  const below = (hash, f) => f === root ? hash : hashOf(f.name + '\0' + f.unit, hash);

  // find returns the frame that tell speaks of.
  function find(wanted) {
    const open = wanted ? [[root, 0]] : [];
    while (open.length > 0) {
      const [f, hash] = open.pop();
      if (f !== root && hash.toString(36) === wanted) return f;
      for (const child of f.children) open.push([child, below(hash, child)]);
    }
    return root;
  }

  function mark() {
    element.classList.toggle('searching', matches !== null);
    for (const [f, e] of drawn) e.classList.toggle('match', matches !== null && f !== root && matches[f.symbol]);
  }

  const enter = roving(element, (key, target) => {
    const f = target.frame;
    if (!f) return null;
    const siblings = f.parent ? f.parent.children : [f];
    const moves = {
      ArrowUp: () => f.parent,
      ArrowDown: () => f.children[0],
      ArrowLeft: () => siblings[siblings.indexOf(f) - 1],
      ArrowRight: () => siblings[siblings.indexOf(f) + 1],
      Home: () => root,
    };
    if (moves[key]) return drawn.get(moves[key]());
    if (key === 'Enter' || key === ' ') zoom(f);
    else if (key === 'Escape' && focus !== root) zoom(focus.parent);
    else return null;
    return {};
  });
  const showTarget = e => { if (e.target.frame) show(e.target.frame); };
  element.addEventListener('mouseover', showTarget);
  element.addEventListener('focusin', showTarget);
  element.addEventListener('click', e => { if (e.target.frame) zoom(e.target.frame); });
  reset.onclick = () => zoom(root);

  for (const input of document.querySelectorAll('input[name=width]')) {
    input.checked = input.value === width;
    input.onchange = () => {
      width = input.value;
      widestFirst(root, width);
      // What the other profile does not have has no width to zoom in on.
      const was = focus;
      while (focus !== root && !(focus[width] > 0)) focus = focus.parent;
      if (focus !== was) tell();
      draw();
      show(focus);
    };
  }
  if (before) changeLegend(at('flame-legend'));
  else legend(at('flame-legend'), 'Own lines: little', 'most of the samples', [1, 2, 3, 4, 5]);
  at('flame-note').textContent = 'Frames that are too narrow for this page are one hatched strip together; zoom in to see them.' +
    (Number(data.frames.left) > 0 ? ` ${grouped(data.frames.left)} frames with fewer samples are left out of this page.` : '');
  show(root);
  onWidth(element, draw);
  return {
    zoomTo(wanted) {
      const f = find(wanted);
      if (f === focus || f !== root && !(f[width] > 0)) return;
      focus = f;
      draw();
      show(f);
    },
    // goTo zooms in on the widest frame of a symbol, and reports whether there is one.
    goTo(symbol) {
      let widest;
      const open = [...root.children];
      while (open.length > 0) {
        const f = open.pop();
        if (f.symbol === symbol && f[width] > (widest?.[width] || 0)) widest = f;
        open.push(...f.children);
      }
      if (widest) zoom(widest);
      return widest !== undefined;
    },
    mark(symbols) {
      matches = symbols;
      mark();
    },
    // covered returns how many samples are in frames that match and below them.
    covered(symbols) {
      let sum = 0;
      const open = [root];
      while (open.length > 0) {
        const f = open.pop();
        if (f !== root && symbols[f.symbol]) sum += f.total;
        else open.push(...f.children);
      }
      return Math.min(1, root.total > 0 ? sum / root.total : 0);
    },
  };
}

// frameTree returns the frames under one for the whole profile, the widest of each first.
function frameTree() {
  const {depth, symbol, own, total, total_before: was = []} = data.frames;
  const root = {name: 'All samples', total: Number(data.total), own: 0, shownTotal: data.total, was: Number(before?.total), shownWas: before?.total, children: [], parent: null};
  const open = [root]; // by depth
  for (let i = 0; i < depth.length; i++) {
    const parent = open[depth[i]];
    const f = {
      name: nameOf(symbol[i]), unit: pathOf(data.symbols.unit[symbol[i]]), symbol: symbol[i],
      total: Number(total[i]), own: Number(own[i]), shownTotal: total[i], shownOwn: own[i],
      was: Number(was[i]), shownWas: was[i], children: [], parent,
    };
    parent.children.push(f);
    open.length = depth[i] + 1;
    open.push(f);
  }
  widestFirst(root, 'total');
  return root;
}

// widestFirst sorts the frames by one of their numbers.
function widestFirst(root, width) {
  const unsorted = [root];
  while (unsorted.length > 0) {
    const f = unsorted.pop();
    f.children.sort((a, b) => b[width] - a[width]);
    unsorted.push(...f.children);
  }
}

// pathTo returns a frame and those around it, outermost first.
function pathTo(f) {
  const path = [];
  for (; f; f = f.parent) path.unshift(f);
  return path;
}

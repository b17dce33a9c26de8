// Names that are too long for their place are cut in the middle: the ends of C++ names tell more
// than what is between them.

// cutMiddle returns a text of at most n characters.
function cutMiddle(text, n) {
  const characters = [...text];
  if (characters.length <= n) return text;
  const head = Math.ceil((n - 1) / 2), tail = Math.max(0, n - 1 - head);
  return characters.slice(0, head).join('') + '…' + characters.slice(characters.length - tail).join('');
}

// characterWidth returns how wide a character of a name is; all are, in most scripts.
let characterPixels;
function characterWidth() {
  if (!characterPixels) {
    const probe = make('span', {class: 'probe', 'aria-hidden': 'true'}, '0'.repeat(100));
    document.body.append(probe);
    characterPixels = probe.getBoundingClientRect().width / 100;
    probe.remove();
  }
  return characterPixels;
}

// textWidth returns how wide a text is in a frame of the flame graph.
let pen;
const textWidths = new Map();
function textWidth(text) {
  if (!pen) {
    pen = document.createElement('canvas').getContext('2d');
    pen.font = '12px ' + getComputedStyle(document.body).fontFamily;
  }
  if (!textWidths.has(text)) textWidths.set(text, pen.measureText(text).width);
  return textWidths.get(text);
}

// fitting returns the first of some texts that fits a width behind a mark, else the last one, which
// is cut where it is shown, and nothing if too little of that could be read.
function fitting(mark, texts, width) {
  const whole = texts.find(text => textWidth(mark + text) <= width);
  if (whole !== undefined) return mark + whole;
  const last = texts[texts.length - 1];
  return textWidth(mark + [...last].slice(0, 4).join('') + '…') <= width ? mark + last : '';
}

// breakable returns a text in parts between which a line may end: behind what separates folders and
// scopes.
function breakable(text) {
  return text.split(/(?<=\/|::)/).flatMap((part, i) => i === 0 ? [part] : [make('wbr'), part]);
}

// fitNames cuts those names in an element that do not fit their so many lines.
function fitNames(element, lines = 2) {
  const names = [...element.querySelectorAll('.name')];
  for (const e of names) {
    e.replaceChildren(...(lines > 1 ? breakable(e.full) : [e.full]));
    e.classList.remove('cut');
  }
  // All that is read of the layout is read before anything changes it.
  const cut = names.filter(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)
    .map(e => [e, lines * Math.floor(e.clientWidth / characterWidth()) - 1]); // the mark may be wide
  for (const [e, n] of cut) {
    e.classList.add('cut');
    e.textContent = cutMiddle(e.full, n);
  }
}

// nameButton shows a name that can be searched for.
function nameButton(name, title = name) {
  const b = make('button', {type: 'button', class: 'name', title}, ...breakable(name));
  b.full = name;
  b.onclick = () => searchFor(name);
  return b;
}

// nameLine shows a name as the one line above what is said of it.
function nameLine(name) {
  const b = make('b', {class: 'name', title: name}, name);
  b.full = name;
  return b;
}

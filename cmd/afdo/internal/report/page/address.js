// The address has what is searched for, zoomed in on and switched, so that a view can be shared.
// Frames are there by a hash of their names, which a page of another profile may have as well.

// stateOf returns what a fragment says. One without "=" is the plain link to a part of the page.
const stateOf = hash => new URLSearchParams(hash.includes('=') ? hash.slice(1) : '');

// hashOf mixes a text into a number of 53 bits (cyrb53).
function hashOf(text, seed) {
  let a = 0xdeadbeef ^ seed, b = 0x41c6ce57 ^ (seed / 0x100000000);
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}

function keepAddress(flame) {
  let reading = false;

  // write changes the address; step makes a new entry of the history.
  function write(changes, step) {
    if (reading) return;
    const state = stateOf(location.hash);
    for (const [key, value] of Object.entries(changes)) {
      if (value) state.set(key, value);
      else state.delete(key);
    }
    if (!changes.at && [...state.keys()].join() === 'at') state.delete('at');
    if (state.toString() === stateOf(location.hash).toString()) return;
    history[step ? 'pushState' : 'replaceState'](null, '', '#' + state);
  }

  // read makes the page what the address says.
  function read() {
    const state = stateOf(location.hash);
    reading = true;
    for (const input of document.querySelectorAll('.toggle input')) {
      const wanted = state.get(input.name);
      if (!input.checked && (wanted === input.value || !wanted && input.defaultChecked)) input.click();
    }
    flame.zoomTo(state.get('zoom') || '');
    const text = (state.get('q') || '').slice(0, 1000);
    if (at('search').value !== text) {
      at('search').value = text;
      search(text);
    }
    reading = false;
    section(state.get('at'))?.scrollIntoView();
  }

  const section = id => [...document.querySelectorAll('main > section')].find(s => s.id === id);
  at('flame').addEventListener('zoom', event => write({zoom: event.detail, at: event.detail && 'inlining'}, true));
  document.addEventListener('searched', event => write({q: event.detail}));
  document.addEventListener('change', ({target}) => {
    if (target.type === 'radio') write({[target.name]: target.defaultChecked ? '' : target.value});
  });
  document.querySelector('nav').addEventListener('click', event => {
    const id = event.target.hash?.slice(1);
    if (!section(id) || stateOf(location.hash).size === 0) return;
    event.preventDefault(); // which would forget the rest
    write({at: id}, true);
    section(id).scrollIntoView();
  });
  window.addEventListener('popstate', read);
  read();
}

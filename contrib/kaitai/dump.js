// Prints a version 4 file as JSON, decoded by the parser that the Kaitai Struct compiler makes of
// gcov_v4.ksy: node dump.js FILE. It needs kaitai-struct-compiler, kaitai-struct and js-yaml.
'use strict';

const fs = require('fs');
const path = require('path');
const yaml = require('js-yaml');
const ksc = require('kaitai-struct-compiler');
const { KaitaiStream } = require('kaitai-struct');

const noInfo = 0xffffffff;
const text = (bytes) => Buffer.from(bytes).toString('latin1');

// strings returns the strings of a string table by string index.
function strings(table) {
  const found = [];
  const walk = (node, prefix) => {
    if (node.isTerminal) found[node.stringIndex.value] = prefix;
    for (const child of node.children) walk(child.node, prefix + text(child.label));
  };
  walk(table.root, '');
  return found;
}

function locations(body) {
  return body.locations.map((l) => {
    const at = { type: l.locationType, line: l.line.value };
    if (l.hasDiscriminator) at.discriminator = l.discriminator.value;
    switch (l.locationType) {
      case 2: case 3: at.count = l.data.samples.value; break;
      case 4: at.targets = [[l.data.callee.value, l.data.samples.value]]; break;
      case 5: at.targets = l.data.targets.map((t) => [t.callee.value, t.samples.value]); break;
      case 6: at.callee = l.data.callee.value; at.inlined = locations(l.data.body); break;
    }
    return at;
  });
}

function dump(file) {
  const places = [file.summary, file.fileNames, ...file.table].sort((a, b) => a.offset.value - b.offset.value);
  const section = (index) => places[index].section;
  return section(places.indexOf(file.fileNames)).data.units.map((unit) => {
    const names = strings(section(unit.stringTableIndex.value).data);
    const symbols = section(unit.symbolNamesIndex.value).data.symbols.map((s) => {
      const symbol = { id: s.symbolId.value, name: names[s.stringIndex.value] };
      if (s.infoIndex.value !== noInfo) {
        const info = section(s.infoIndex.value).data;
        symbol.head = info.headCount.value;
        symbol.locations = locations(info.body);
      }
      return symbol;
    });
    return { path: text(unit.path).replace(/\0$/, ''), symbols };
  });
}

async function main() {
  const spec = yaml.load(fs.readFileSync(path.join(__dirname, 'gcov_v4.ksy'), 'utf8'));
  const sources = await ksc.compile('javascript', spec);
  const module_ = { exports: {} };
  const wanted = (name) => (name === 'kaitai-struct/KaitaiStream' ? KaitaiStream : require(name));
  new Function('module', 'exports', 'require', 'define', sources['GcovV4.js'])(module_, module_.exports, wanted, undefined);
  const Parser = module_.exports.GcovV4 || module_.exports;
  const data = fs.readFileSync(process.argv[2]);
  const file = new Parser(new KaitaiStream(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)));
  process.stdout.write(JSON.stringify(dump(file)) + '\n');
}

main().catch((err) => { console.error(String(err)); process.exit(1); });

meta:
  id: gcov_v4
  title: GCOV AutoFDO profile, version 4
  application: GCC, afdo
  file-extension: afdo
  license: Apache-2.0
  ks-version: '0.10'
  endian: be
  bit-endian: be
doc: |
  Sampled execution counts by source file, as a compiler reads them with -fauto-profile. The format
  is that of the RFC of April 2026 on the GCC mailing list. docs/reference/format.md of the repository
  describes it in words; "note" below is one of the format notes there.

  The index of a section is its rank by offset among all sections, the summary and the file names
  included (note 1). This description has no way to sort, so who follows a section index sorts the
  offsets of `summary`, `file_names` and `table` first.
doc-ref: https://github.com/go-afdo/afdo/blob/main/docs/reference/format.md
seq:
  - id: magic
    contents: gcov
  - id: version
    type: u4
    valid: 4
  - id: bitmask
    type: u1
    doc: Bit 7 says that the rest of the header is varints. The other bits are reserved (note 6).
  - id: num_sections
    type: integer(is_compact, 7)
    doc: Entries of the table. The two fixed sections are not counted.
  - id: summary
    type: place(is_compact)
  - id: file_names
    type: place(is_compact)
  - id: table
    type: place(is_compact)
    repeat: expr
    repeat-expr: num_sections.value
instances:
  is_compact:
    value: (bitmask & 0x80) != 0
types:
  place:
    doc: An entry of the section table, with the section it leads to.
    params:
      - id: is_compact
        type: bool
    seq:
      - id: offset
        type: integer(is_compact, 8)
      - id: size
        type: integer(is_compact, 8)
    instances:
      section:
        io: _root._io
        pos: offset.value
        size: size.value
        type: section
  section:
    doc: The flag in a section's own bitmask speaks for that section alone (note 4).
    seq:
      - id: bitmask
        type: u1
      - id: data
        type:
          switch-on: section_type
          cases:
            1: string_table(is_compact)
            2: summary(is_compact)
            3: file_names(is_compact)
            4: symbol_names(is_compact)
            5: symbol_info(is_compact)
        if: section_type >= 1 and section_type <= 5
      - id: rest
        size-eos: true
        doc: |
          Bytes after the data, which a reader tolerates (note 7), or a section of a type that is
          not of the RFC, which a reader skips.
    instances:
      section_type:
        value: bitmask & 0x7f
      is_compact:
        value: (bitmask & 0x80) != 0
  string_table:
    doc: The names of a unit's symbols as a trie in pre-order (RFC 4.3).
    params:
      - id: is_compact
        type: bool
    seq:
      - id: num_strings
        type: integer(is_compact, 4)
      - id: root
        type: trie_node(is_compact)
  trie_node:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: bitmask
        type: u1
      - id: string_index
        type: integer(is_compact, 4)
        if: is_terminal
      - id: children
        type: trie_child(is_compact)
        repeat: expr
        repeat-expr: num_children
    instances:
      is_terminal:
        value: (bitmask & 0x80) != 0
      num_children:
        value: bitmask & 0x7f
  trie_child:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: len_label
        type: integer(is_compact, 2)
      - id: label
        size: len_label.value
        doc: Raw bytes, in a compact section as well.
      - id: node
        type: trie_node(is_compact)
  summary:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: total_count
        type: integer(is_compact, 8)
      - id: max_count
        type: integer(is_compact, 8)
      - id: max_function_count
        type: integer(is_compact, 8)
      - id: num_counts
        type: integer(is_compact, 8)
      - id: num_functions
        type: integer(is_compact, 8)
      - id: num_entries
        type: integer(is_compact, 8)
      - id: entries
        type: summary_entry(is_compact)
        repeat: expr
        repeat-expr: num_entries.value
  summary_entry:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: cutoff
        type: integer(is_compact, 4)
        doc: A share of the total count, in parts per million.
      - id: min_count
        type: integer(is_compact, 8)
      - id: num_counts
        type: integer(is_compact, 8)
  file_names:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: num_units
        type: integer(is_compact, 4)
      - id: units
        type: unit(is_compact)
        repeat: expr
        repeat-expr: num_units.value
  unit:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: len_path
        type: integer(is_compact, 4)
        doc: Counts the NUL that ends the path (note 8).
      - id: path
        size: len_path.value
      - id: string_table_index
        type: integer(is_compact, 4)
      - id: symbol_names_index
        type: integer(is_compact, 4)
      - id: start_id
        type: integer(is_compact, 4)
      - id: end_id
        type: integer(is_compact, 4)
        doc: The last symbol ID plus one.
  symbol_names:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: num_symbols
        type: integer(is_compact, 4)
      - id: symbols
        type: symbol_name(is_compact)
        repeat: expr
        repeat-expr: num_symbols.value
  symbol_name:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: string_index
        type: integer(is_compact, 4)
      - id: symbol_id
        type: integer(is_compact, 4)
      - id: info_index
        type: integer(is_compact, 4)
        doc: 0xffffffff for a symbol without samples of its own (note 12).
  symbol_info:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: head_count
        type: integer(is_compact, 8)
      - id: timestamp
        type: integer(is_compact, 8)
      - id: body
        type: body(is_compact)
  body:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: num_locations
        type: integer(is_compact, 4)
      - id: locations
        type: location(is_compact)
        repeat: expr
        repeat-expr: num_locations.value
  location:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: bitmask
        type: u1
      - id: line
        type: integer(is_compact, 3)
        doc: From the line of the function's declaration.
      - id: discriminator
        type: integer(is_compact, 2)
        if: has_discriminator
      - id: data
        type:
          switch-on: location_type
          cases:
            1: zero
            2: count(is_compact, 4)
            3: count(is_compact, 8)
            4: target(is_compact)
            5: targets(is_compact)
            6: inlined(is_compact)
            _: unknown(is_compact)
    instances:
      has_discriminator:
        value: (bitmask & 0x80) != 0
      location_type:
        value: bitmask & 0x7f
  zero:
    doc: No samples. The record has nothing but its place.
    seq: []
  count:
    params:
      - id: is_compact
        type: bool
      - id: width
        type: u1
    seq:
      - id: samples
        type: integer(is_compact, width)
  target:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: callee
        type: integer(is_compact, 4)
      - id: samples
        type: integer(is_compact, 8)
  targets:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: num_targets
        type: integer(is_compact, 4)
      - id: targets
        type: target(is_compact)
        repeat: expr
        repeat-expr: num_targets.value
  inlined:
    params:
      - id: is_compact
        type: bool
    seq:
      - id: callee
        type: integer(is_compact, 4)
      - id: body
        type: body(is_compact)
  unknown:
    doc: A location type of a later revision, to be skipped (RFC 4.8.3).
    params:
      - id: is_compact
        type: bool
    seq:
      - id: len_trailing
        type: integer(is_compact, 4)
      - id: trailing
        size: len_trailing.value
  integer:
    doc: |
      An unsigned integer: big-endian in so many bytes, or a varint if the header or the section is
      compact. A varint whose value does not fit the width is malformed (note 5).
    params:
      - id: is_compact
        type: bool
      - id: width
        type: u1
    seq:
      - id: varint
        type: varint
        if: is_compact
      - id: u16
        type: u2
        if: not is_compact and width == 2
      - id: u24
        type: b24
        if: not is_compact and width == 3
      - id: u32
        type: u4
        if: not is_compact and width == 4
      - id: u56
        type: u56
        if: not is_compact and width == 7
      - id: u64
        type: u8
        if: not is_compact and width == 8
    instances:
      value:
        value: >-
          is_compact ? varint.value :
          width == 2 ? u16 :
          width == 3 ? u24 :
          width == 4 ? u32 :
          width == 7 ? u56.value : u64
  u56:
    seq:
      - id: high
        type: b24
      - id: low
        type: u4
    instances:
      value:
        value: high * 4294967296 + low
  varint:
    doc: As in Protocol Buffers, up to ten bytes.
    seq:
      - id: groups
        type: group
        repeat: until
        repeat-until: not _.has_next
    instances:
      len:
        value: groups.size
      value:
        value: >-
          groups[0].value +
          (len > 1 ? groups[1].value * 128 : 0) +
          (len > 2 ? groups[2].value * 16384 : 0) +
          (len > 3 ? groups[3].value * 2097152 : 0) +
          (len > 4 ? groups[4].value * 268435456 : 0) +
          (len > 5 ? groups[5].value * 34359738368 : 0) +
          (len > 6 ? groups[6].value * 4398046511104 : 0) +
          (len > 7 ? groups[7].value * 562949953421312 : 0) +
          (len > 8 ? groups[8].value * 72057594037927936 : 0) +
          (len > 9 ? groups[9].value * 9223372036854775808 : 0)
  group:
    seq:
      - id: byte
        type: u1
    instances:
      has_next:
        value: (byte & 0x80) != 0
      value:
        value: byte & 0x7f

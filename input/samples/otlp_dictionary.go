package samples

import (
	"encoding/hex"
	"math"

	"github.com/go-afdo/afdo/internal/fault"
)

// Tables of the dictionary, which other messages refer to by index.
const (
	tableMapping   = 1
	tableLocation  = 2
	tableString    = 5
	tableAttribute = 6
	tableStack     = 7

	numTables = 8 // and table 0, which is none
)

// gnuBuildID is the name of the attribute with the build ID of a mapped ELF file.
const gnuBuildID = "process.executable.build_id.gnu"

// An otlpMessage is one exported message, with a dictionary of its own.
type otlpMessage struct {
	data   field
	tables [numTables][]span
	texts  map[uint64]string // strings of the table that were read, by index

	mappings  []segment
	locations []otlpLocation
	stacks    []uint64 // number of samples, by index of the stack
}

// A span is the position of a table entry of the dictionary in its message.
type span struct{ offset, length uint32 }

type otlpLocation struct {
	address uint64
	mapping uint32 // number, 0 for none
}

// readTables finds the entries of the tables in a message's dictionary. It also finds out the
// version of OpenTelemetry's protocol, from the samples.
func (o *otlpReader) readTables(m *otlpMessage) error {
	if uint64(len(m.data.bytes)) > math.MaxUint32 {
		return m.data.faultAt(m.data.offset, fault.ErrLimit, "a message of %d bytes", len(m.data.bytes))
	}
	known := false
	for part, err := range m.data.fields() {
		if err == nil && part.number == dataDictionary {
			known = true
			err = o.readDictionary(m, part)
		}
		if err != nil {
			return err
		}
		if part.number > dataDictionary {
			o.version.is(otlpOld, part.offset)
		}
	}
	return m.profiles(func(profile field) error {
		if !known {
			o.version.is(otlpOld, profile.offset)
			return nil
		}
		return profile.each(otlpSample, func(sample field) error { return o.version.look(sample, len(m.tables[tableAttribute])) })
	})
}

// readDictionary records the position of each entry of the dictionary's tables.
func (o *otlpReader) readDictionary(m *otlpMessage, dictionary field) error {
	for entry, err := range dictionary.fields() {
		if err != nil {
			return err
		}
		if entry.number >= numTables || otlpTables[entry.number] == "" || entry.wire != wireBytes {
			continue
		}
		if o.entries--; o.entries < 0 {
			return entry.faultAt(entry.offset, fault.ErrLimit, "too many entries of tables for the length of the data")
		}
		m.tables[entry.number] = append(m.tables[entry.number], span{uint32(entry.offset - m.data.offset), uint32(len(entry.bytes))})
	}
	return nil
}

// entry returns entry i of a table of the dictionary. from is the offset of the reference to the
// entry, for error messages.
func (m *otlpMessage) entry(table int, i uint64, from int64) (field, error) {
	if i >= uint64(len(m.tables[table])) {
		return field{}, m.data.faultAt(from, fault.ErrSymbol, "index %d of a table of %d %s", i, len(m.tables[table]), otlpTables[table])
	}
	s := m.tables[table][i]
	return wholeMessage(OpenTelemetry, m.data.bytes[s.offset:][:s.length], m.data.offset+int64(s.offset)), nil
}

var otlpTables = [numTables]string{
	tableMapping: "mappings", tableLocation: "locations", tableString: "strings", tableAttribute: "attributes", tableStack: "stacks",
}

// text returns string i of the dictionary. from is the offset of the reference to the string, for
// error messages.
func (m *otlpMessage) text(i uint64, from int64) (string, error) {
	if s, ok := m.texts[i]; ok || i == 0 {
		return s, nil
	}
	f, err := m.entry(tableString, i, from)
	if err == nil {
		m.texts[i], err = f.text()
	}
	return m.texts[i], err
}

// readLocation reads entry i of the table of locations.
func (m *otlpMessage) readLocation(i int) error {
	f, err := m.entry(tableLocation, uint64(i), 0)
	if err != nil {
		return err
	}
	var number uint64
	if err := f.scan(&number, &m.locations[i].address); err != nil {
		return err
	}
	if number >= uint64(len(m.mappings)) {
		return f.faultAt(f.offset, fault.ErrSymbol, "mapping %d, of %d", number, len(m.mappings))
	}
	m.locations[i].mapping = uint32(number)
	return nil
}

// readMapping reads entry i of the table of mappings, and decides whether the mapped file is the
// binary. ids are the build IDs in the table of attributes. Entry 0 means no mapping.
func (m *otlpMessage) readMapping(i int, ids map[uint64]string, c choice) error {
	f, err := m.entry(tableMapping, uint64(i), 0)
	if err != nil {
		return err
	}
	to := &m.mappings[i]
	var name uint64
	if err := f.scan(&to.start, &to.limit, &to.offset, &name); err != nil {
		return err
	}
	if to.object.Name, err = m.text(name, f.offset); err != nil {
		return err
	}
	err = f.each(mappingAttributes, func(list field) error {
		for attribute, err := range list.numbers() {
			if err != nil {
				return err
			}
			if id := ids[attribute]; id != "" {
				to.object.BuildID = id
			}
		}
		return nil
	})
	to.object.Ours = i > 0 && c.ours(to.object.Name, to.object.BuildID)
	return err
}

// buildIDs returns the build IDs that are attributes of mapped files, by the index of the attribute
// in the dictionary.
func (m *otlpMessage) buildIDs() (map[uint64]string, error) {
	keys := make(map[uint64]bool) // strings that name such attributes
	for i := range m.tables[tableString] {
		if f, err := m.entry(tableString, uint64(i), 0); err == nil && string(f.bytes) == gnuBuildID {
			keys[uint64(i)] = true
		}
	}
	ids := make(map[uint64]string)
	for i := range m.tables[tableAttribute] {
		f, err := m.entry(tableAttribute, uint64(i), 0)
		if err != nil {
			return nil, err
		}
		var key uint64
		if err := f.scan(&key); err != nil {
			return nil, err
		}
		if !keys[key] {
			continue
		}
		id, err := m.attributeText(f)
		if err != nil {
			return nil, err
		}
		if _, err := hex.DecodeString(id); err == nil {
			ids[uint64(i)] = id
		}
	}
	return ids, nil
}

// attributeText returns the value of an attribute, or "" if it is not a string. The attribute
// contains the string, or its index in the table of strings.
func (m *otlpMessage) attributeText(attribute field) (text string, err error) {
	const value, here, inTable = 2, 1, 8
	err = attribute.each(value, func(v field) error {
		for part, err := range v.fields() {
			switch {
			case err != nil:
				return err
			case part.number == here && part.wire == wireBytes:
				text, err = part.text()
			case part.number == inTable && part.wire == wireVarint:
				text, err = m.text(part.value, part.offset)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return text, err
}

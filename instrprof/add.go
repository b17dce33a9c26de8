package instrprof

import (
	"errors"
	"iter"
)

// AddIndexed adds an indexed file, its counts multiplied by weight, but for its MemProf section. Records that do not fit are
// passed to mismatch, which may be nil, and dropped; see [Profile.Add]. After an error, which is about the
// file or matches [ErrKind], the profile holds a part of the file and is good for nothing.
func (p *Profile) AddIndexed(r *Reader, weight uint64, mismatch func(error)) error {
	if err := p.addFlags(r.header.Flags); err != nil {
		return err
	}
	var fault error
	r.walk(true, func(rec Record, err error) bool {
		fault = p.addOne(rec, err, weight, mismatch)
		return fault == nil
	})
	if fault != nil {
		return fault
	}
	ids, idsErr := r.BinaryIDs()
	p.addBinaryIDs(ids)
	names, namesErr := r.VTableNames()
	p.addVTableNames(names)
	traces, tracesErr := r.Traces()
	p.Traces.add(traces)
	return errors.Join(idsErr, namesErr, tracesErr)
}

// AddRaw adds all dumps of a raw file. See [Profile.AddIndexed]. The trace of a dump gets the weight; its counts are multiplied by it.
func (p *Profile) AddRaw(r *RawReader, weight uint64, mismatch func(error)) error {
	for d, err := range r.Dumps() {
		if err != nil {
			return err
		}
		if err := p.addDump(d, weight, mismatch); err != nil {
			return err
		}
	}
	return nil
}

func (p *Profile) addDump(d *Dump, weight uint64, mismatch func(error)) error {
	if err := p.addFlags(d.header.Flags); err != nil {
		return err
	}
	var calls []stamped
	var fault error
	d.walk(func(r Record, nameHash, stamp uint64, err error) bool {
		if err == nil && !never(stamp) {
			calls = append(calls, stamped{stamp, nameHash})
		}
		fault = p.addOne(r, err, weight, mismatch)
		return fault == nil
	})
	if fault != nil {
		return fault
	}
	if len(calls) > 0 {
		trace := traceOf(calls)
		trace.Weight = weight
		p.Traces.add(Traces{Seen: 1, Traces: []Trace{trace}})
	}
	ids, err := d.BinaryIDs()
	if err != nil {
		return err
	}
	p.addBinaryIDs(ids)
	names, err := d.VTableNames()
	p.addVTableNames(names)
	return err
}

// AddText adds a text, of which no record has been read. See [Profile.AddIndexed].
func (p *Profile) AddText(t *TextReader, weight uint64, mismatch func(error)) error {
	if err := p.addFlags(t.flags); err != nil {
		return err
	}
	if err := p.addAll(t.Records(), weight, mismatch); err != nil {
		return err
	}
	p.Traces.add(t.traces)
	p.addVTableNames(t.VTableNames())
	return nil
}

func (p *Profile) addAll(records iter.Seq2[Record, error], weight uint64, mismatch func(error)) error {
	for r, err := range records {
		if err := p.addOne(r, err, weight, mismatch); err != nil {
			return err
		}
	}
	return nil
}

// addOne adds a record unless there is an error instead of one.
func (p *Profile) addOne(r Record, err error, weight uint64, mismatch func(error)) error {
	if err != nil {
		return err
	}
	if err := p.Add(r, weight); err != nil && mismatch != nil {
		mismatch(err)
	}
	return nil
}

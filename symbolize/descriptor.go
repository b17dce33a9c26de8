package symbolize

import (
	"debug/elf"
	"encoding/binary"
)

// Descriptors are the section .opd of big-endian PowerPC: a symbol of a function has the address of
// an entry there, which begins with the address of the code.
type descriptors struct {
	address uint64
	data    []byte
	order   binary.ByteOrder
}

// readDescriptors reads the section, if there is one with contents. The section of a
// relocatable file is left alone: its entries have no addresses yet.
func (o *object) readDescriptors() (d descriptors, err error) {
	s := o.byName[".opd"]
	if o.elf.Machine != elf.EM_PPC64 || o.elf.Type == elf.ET_REL || s == nil || s.header.Type == elf.SHT_NOBITS {
		return d, nil
	}
	data, err := o.contents(s)
	return descriptors{s.header.Addr, data, o.order}, err
}

// code returns the address of a function's code, of what its symbol has as its address.
func (d descriptors) code(value uint64) uint64 {
	if at := value - d.address; value >= d.address && at < uint64(len(d.data)) && uint64(len(d.data))-at >= 8 {
		return d.order.Uint64(d.data[at:])
	}
	return value
}

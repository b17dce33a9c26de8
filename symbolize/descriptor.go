package symbolize

import (
	"debug/elf"
	"encoding/binary"
)

// descriptors is the .opd section of big-endian PowerPC. The symbol of a function points to an
// entry in this section, which begins with the address of the code.
type descriptors struct {
	address uint64
	data    []byte
	order   binary.ByteOrder
}

// readDescriptors reads the section if it exists. It ignores the section in a relocatable file,
// where entries have no addresses yet.
func (o *object) readDescriptors() (d descriptors, err error) {
	s := o.byName[".opd"]
	if o.elf.Machine != elf.EM_PPC64 || o.elf.Type == elf.ET_REL || s == nil || s.header.Type == elf.SHT_NOBITS {
		return d, nil
	}
	data, err := o.contents(s)
	return descriptors{s.header.Addr, data, o.order}, err
}

// code converts the value of a function's symbol to the address of its code.
func (d descriptors) code(value uint64) uint64 {
	if at := value - d.address; value >= d.address && at < uint64(len(d.data)) && uint64(len(d.data))-at >= 8 {
		return d.order.Uint64(d.data[at:])
	}
	return value
}

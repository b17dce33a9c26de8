package symbolize

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// In a relocatable file, such as a kernel module, every section starts at address 0. This package
// uses file offsets as addresses instead, so that functions do not overlap, and relocates debug
// info accordingly.

// A relocKind describes a type of relocation that occurs in debug info: the size in bytes of the
// field that it changes, and how it computes the new value.
type relocKind struct {
	size uint8
	op   relocOp
}

type relocOp uint8

const (
	relocSet relocOp = iota
	relocAdd
	relocSub
	relocNone
	relocSet6
	relocSub6
)

var relocKinds = map[elf.Machine]map[uint32]relocKind{
	elf.EM_X86_64:  {uint32(elf.R_X86_64_64): {8, relocSet}, uint32(elf.R_X86_64_32): {4, relocSet}, uint32(elf.R_X86_64_32S): {4, relocSet}, uint32(elf.R_X86_64_DTPOFF64): {0, relocNone}, uint32(elf.R_X86_64_DTPOFF32): {0, relocNone}},
	elf.EM_AARCH64: {uint32(elf.R_AARCH64_ABS64): {8, relocSet}, uint32(elf.R_AARCH64_ABS32): {4, relocSet}},
	elf.EM_386:     {uint32(elf.R_386_32): {4, relocSet}},
	elf.EM_ARM:     {uint32(elf.R_ARM_ABS32): {4, relocSet}},
	elf.EM_PPC64:   {uint32(elf.R_PPC64_ADDR64): {8, relocSet}, uint32(elf.R_PPC64_ADDR32): {4, relocSet}},
	elf.EM_S390:    {uint32(elf.R_390_64): {8, relocSet}, uint32(elf.R_390_32): {4, relocSet}},
	elf.EM_LOONGARCH: {
		uint32(elf.R_LARCH_64): {8, relocSet}, uint32(elf.R_LARCH_32): {4, relocSet},
		uint32(elf.R_LARCH_ADD8): {1, relocAdd}, uint32(elf.R_LARCH_ADD16): {2, relocAdd}, uint32(elf.R_LARCH_ADD32): {4, relocAdd}, uint32(elf.R_LARCH_ADD64): {8, relocAdd},
		uint32(elf.R_LARCH_SUB8): {1, relocSub}, uint32(elf.R_LARCH_SUB16): {2, relocSub}, uint32(elf.R_LARCH_SUB32): {4, relocSub}, uint32(elf.R_LARCH_SUB64): {8, relocSub},
	},
	elf.EM_RISCV: {
		uint32(elf.R_RISCV_64): {8, relocSet}, uint32(elf.R_RISCV_32): {4, relocSet},
		uint32(elf.R_RISCV_ADD8): {1, relocAdd}, uint32(elf.R_RISCV_ADD16): {2, relocAdd}, uint32(elf.R_RISCV_ADD32): {4, relocAdd}, uint32(elf.R_RISCV_ADD64): {8, relocAdd},
		uint32(elf.R_RISCV_SUB8): {1, relocSub}, uint32(elf.R_RISCV_SUB16): {2, relocSub}, uint32(elf.R_RISCV_SUB32): {4, relocSub}, uint32(elf.R_RISCV_SUB64): {8, relocSub},
		uint32(elf.R_RISCV_SET8): {1, relocSet}, uint32(elf.R_RISCV_SET16): {2, relocSet}, uint32(elf.R_RISCV_SET32): {4, relocSet},
		uint32(elf.R_RISCV_SET6): {1, relocSet6}, uint32(elf.R_RISCV_SUB6): {1, relocSub6}, uint32(elf.R_RISCV_RELAX): {0, relocNone},
	},
}

// relocate applies all relocations of a section to its contents. Only relocatable files, such as
// kernel modules, have relocations.
func (s *section) relocate() error {
	var table *section
	for _, r := range s.object.sections {
		if (r.header.Type == elf.SHT_RELA || r.header.Type == elf.SHT_REL) && int(r.header.Info) == s.index {
			table = r
		}
	}
	if table == nil || s.size == 0 {
		return nil
	}
	if s.data == nil {
		data := make([]byte, s.size)
		if err := s.read(data, 0); err != nil {
			return err
		}
		s.data = data
	}
	kinds := relocKinds[s.object.elf.Machine]
	if kinds == nil {
		return fmt.Errorf("symbolize: %s: relocations of %v are %w", s.file, s.object.elf.Machine, ErrUnsupported)
	}
	values, err := s.object.symbolValues(int(table.header.Link))
	if err != nil {
		return err
	}
	return s.applyRelocations(table, kinds, values)
}

// applyRelocations applies the relocations in the section table to the contents of section s. kinds
// are the known kinds of relocations by type, and values are the values of the symbols by index.
func (s *section) applyRelocations(table *section, kinds map[uint32]relocKind, values []uint64) error {
	addends := table.header.Type == elf.SHT_RELA
	wide := s.object.elf.Class == elf.ELFCLASS64
	entry := uint64(8)
	if wide {
		entry *= 2
	}
	if addends {
		entry += entry / 2
	}
	data, err := s.object.contents(table)
	if err != nil {
		return err
	}
	c := newCursor(data, 0, table)
	for uint64(len(c.Data)-c.Pos) >= entry {
		at := c.offset()
		off, info := c.word(wide), c.word(wide)
		symbol, kind := info>>8, uint32(info&0xff)
		if wide {
			symbol, kind = info>>32, uint32(info)
		}
		addend := uint64(0)
		if addends {
			addend = c.word(wide)
		}
		k, ok := kinds[kind]
		switch {
		case !ok:
			return table.faultAt(at, ErrELF, "relocation type %d of %v", kind, s.object.elf.Machine)
		case k.op == relocNone:
			continue
		case symbol >= uint64(len(values)):
			return table.faultAt(at, ErrELF, "symbol %d, there are %d", symbol, len(values))
		case off > s.size || uint64(k.size) > s.size-off:
			return table.faultAt(at, ErrELF, "offset %d of a section of %d bytes", off, s.size)
		}
		s.patch(s.data[off:off+uint64(k.size)], k, values[symbol]+addend, !addends)
	}
	return nil
}

// patch applies a relocation of kind k to the bytes p. v is the value of the symbol plus the addend
// of the relocation. inPlace means that the relocation has no addend, and that the bytes p contain
// the addend instead.
func (s *section) patch(p []byte, k relocKind, v uint64, inPlace bool) {
	old := newCursor(p, 0, s).uint(k.size)
	switch {
	case k.op == relocAdd, k.op == relocSet && inPlace:
		v = old + v
	case k.op == relocSub:
		v = old - v
	case k.op == relocSet6:
		v = old&^0x3f | v&0x3f
	case k.op == relocSub6:
		v = old&^0x3f | (old-v)&0x3f
	}
	var whole [8]byte
	if s.object.order == binary.BigEndian {
		binary.BigEndian.PutUint64(whole[:], v)
		copy(p, whole[8-k.size:])
	} else {
		binary.LittleEndian.PutUint64(whole[:], v)
		copy(p, whole[:])
	}
}

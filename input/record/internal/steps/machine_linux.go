//go:build amd64 || arm64

package steps

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// checkMachine returns an error if the program in a file has code that this system can execute but
// the simulation cannot, such as 32-bit Arm code. It returns nil if the file cannot be read.
func checkMachine(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	const at = 18 // where an ELF file has its machine
	var head [at + 2]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || string(head[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return nil
	}
	if m := elf.Machine(binary.NativeEndian.Uint16(head[at:])); m == unsupportedMachine && m != elf.EM_NONE {
		return fmt.Errorf("%w, not 32-bit code", ErrUnsupported)
	}
	return nil
}

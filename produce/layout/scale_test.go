package layout_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/bbmap"
	list "github.com/go-afdo/afdo/internal/layoutlist"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/layout"
)

// Size of the functions in a large program: each has blocksOf blocks of blockSize bytes. The last
// block returns. All others fall through or jump to a later block.
const (
	blocksOf  = 16
	blockSize = 32
	codeStart = 0x1000 // in the file
	codeBase  = 0x400000
)

// writeLarge writes an ELF file with a block address map. The file has a hole in place of the code.
func writeLarge(t *testing.T, path string, functions int) {
	var names, symbols, blocks, table bytes.Buffer
	put := func(w *bytes.Buffer, v any) { require.NoError(t, binary.Write(w, binary.LittleEndian, v)) }
	names.WriteByte(0)
	put(&symbols, elf.Sym64{})
	for i := range functions {
		address := uint64(codeBase + codeStart + i*blocksOf*blockSize)
		put(&symbols, elf.Sym64{Name: uint32(names.Len()), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: address, Size: blocksOf * blockSize})
		fmt.Fprintf(&names, "function_%d\x00", i)
		blocks.WriteString("\x05\x00\x00")
		put(&blocks, address)
		blocks.WriteByte(blocksOf)
		for b := range byte(blocksOf) {
			flags := bbmap.CanFallThrough
			if b == blocksOf-1 {
				flags = bbmap.HasReturn
			}
			blocks.Write([]byte{b, 0, blockSize, byte(flags)})
		}
	}
	code := uint64(functions * blocksOf * blockSize)
	const strings = "\x00.text\x00.map\x00"
	at := codeStart + code
	section := func(s elf.Section64, data []byte) {
		s.Off, s.Size = at, uint64(len(data))
		at += s.Size
		put(&table, s)
	}
	put(&table, elf.Section64{})
	put(&table, elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: codeBase + codeStart, Off: codeStart, Size: code})
	section(elf.Section64{Name: 7, Type: uint32(bbmap.SectionType), Link: 1}, blocks.Bytes())
	section(elf.Section64{Name: 1, Type: uint32(elf.SHT_SYMTAB), Link: 4, Info: 1, Entsize: elf.Sym64Size}, symbols.Bytes())
	section(elf.Section64{Name: 1, Type: uint32(elf.SHT_STRTAB)}, names.Bytes())
	section(elf.Section64{Name: 1, Type: uint32(elf.SHT_STRTAB)}, []byte(strings))

	var head bytes.Buffer
	put(&head, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64),
		Version: 1, Phoff: 64, Shoff: at, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: 6, Shstrndx: 5,
	})
	put(&head, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: codeBase, Filesz: codeStart + code, Memsz: codeStart + code, Align: 4096})
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.Write(head.Bytes())
	require.NoError(t, err)
	_, err = file.WriteAt(bytes.Join([][]byte{blocks.Bytes(), symbols.Bytes(), names.Bytes(), []byte(strings), table.Bytes()}, nil), int64(codeStart+code))
	require.NoError(t, err)
}

// walk adds branch stacks of a function to a recording. The function runs often, and jumps over
// some of its blocks.
func walk(r *rand.Rand, set *samples.Set, function, times int, callees []int) {
	start := uint64(codeStart + function*blocksOf*blockSize)
	var target [blocksOf]int
	for b := range target {
		target[b] = b + 1 + r.IntN(blocksOf-b)
	}
	for range times {
		begin := 0
		for b := 0; b < blocksOf-1; b++ {
			if target[b] < blocksOf && r.IntN(4) != 0 {
				from, to := start+uint64(b*blockSize+blockSize-2), start+uint64(target[b]*blockSize)
				set.Branches.Add(samples.Branch{From: from, To: to}, 1)
				set.Ranges.Add(samples.Range{Begin: start + uint64(begin*blockSize), End: from}, 1)
				begin = target[b]
				b = begin - 1
			}
		}
	}
	for range 3 { // calls of functions near by, and returns
		callee := uint64(codeStart + callees[r.IntN(len(callees))]*blocksOf*blockSize)
		set.Branches.Add(samples.Branch{From: start + 8, To: callee}, uint64(times))
		set.Branches.Add(samples.Branch{From: callee + blocksOf*blockSize - 1, To: start + 12}, uint64(times))
	}
}

// Making the layout of a large program takes memory proportional to the functions that ran and to
// the map. The layout contains all functions that ran.
func TestLarge(t *testing.T) {
	functions, hot := testenv.Rounds(2_000, 200_000), testenv.Rounds(100, 10_000) // 1 MB or 100 MB of code
	path := filepath.Join(t.TempDir(), "large")
	writeLarge(t, path, functions)
	set := new(samples.Set)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range hot {
		every := functions / hot
		walk(r, set, i*every, 30, []int{i / 2 * every, i / 3 * every, i / 7 * every, i % 50 * every})
	}
	f, err := symbolize.Open(path)
	require.NoError(t, err)
	defer f.Close()
	runtime.GC()
	before := heap()
	done, peak := make(chan struct{}), make(chan uint64)
	go watchHeap(done, peak)
	l, report, err := layout.New(context.Background(), f, set, layout.Options{})
	close(done)
	most := <-peak
	require.NoError(t, err)
	assert.Equal(t, functions, report.Functions)
	assert.Zero(t, report.Middle+report.Unmapped+report.Crossing)
	assert.Len(t, l.Order, hot)
	require.NoError(t, l.WriteList(new(bytes.Buffer), list.V1))
	more := int64(most) - int64(before)
	t.Logf("%d functions of which %d ran: %d MB more memory at the peak", functions, len(l.Order), more>>20)
	assert.Less(t, more, int64(300<<20))
}

// heap returns the bytes of all objects on the heap, including garbage that was not collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap measures heap until done is closed, and sends the largest value to peak.
func watchHeap(done <-chan struct{}, peak chan<- uint64) {
	most := heap()
	for {
		select {
		case <-done:
			peak <- max(most, heap())
			return
		case <-time.After(time.Millisecond):
			most = max(most, heap())
		}
	}
}

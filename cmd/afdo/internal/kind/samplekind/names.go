package samplekind

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

// resolve gives names to the MD5s of a profile, if --names has any.
func (k *Kind) resolve(p *sampleprof.Profile) error {
	if p.NumHashed() == 0 {
		return nil
	}
	for _, path := range k.names {
		names, err := readNames(path)
		if err != nil {
			return input.Wrap(path, err)
		}
		p.Resolve(slices.Values(names))
	}
	return nil
}

// readNames reads a list of names, one a line, or the symbols of a binary.
func readNames(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return readSymbols(data)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		if name := strings.TrimRight(line, "\r\n"); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

func readSymbols(data []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, err := read()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, err
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC || elf.ST_TYPE(s.Info) == elf.STT_OBJECT || elf.ST_TYPE(s.Info) == elf.STT_NOTYPE {
				names = append(names, s.Name)
			}
		}
	}
	return names, nil
}

// addSymbolList adds what --prof-sym-list names.
func (k *Kind) addSymbolList(p *sampleprof.Profile) error {
	if k.symbolList == "" {
		return nil
	}
	names, err := readNames(k.symbolList)
	if err != nil {
		return input.Wrap(k.symbolList, err)
	}
	p.SymbolList = append(p.SymbolList, names...)
	return nil
}

// Package train creates profiles of small programs for tests. Names, lines, discriminators,
// inlining and files come from a binary's debug information; the counts are synthetic. So a test
// has a profile like that of a profiler, on any machine and always the same.
package train

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/profile"
)

// Options describe the simulated run.
type Options struct {
	// Seed changes the counts.
	Seed uint64

	// Indirect lists the functions that indirect calls reach.
	Indirect []string

	// Cold lists functions without samples, by the beginning of their symbol.
	Cold []string
}

// Add adds a profile of the binary at a path to p.
func Add(p *profile.Profile, path string, o Options) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := file.DWARF()
	if err != nil {
		return err
	}
	t := trainer{options: o, profile: p, data: data, functions: make(map[dwarf.Offset]dwarfFunction)}
	if err := t.readSymbols(file); err != nil {
		return err
	}
	r := data.Reader()
	for {
		unit, err := r.Next()
		if err != nil || unit == nil {
			return err
		}
		if unit.Tag == dwarf.TagCompileUnit {
			if err := t.unit(r, unit); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		r.SkipChildren()
	}
}

type trainer struct {
	options   Options
	profile   *profile.Profile
	data      *dwarf.Data
	symbols   []elf.Symbol // functions, by address
	functions map[dwarf.Offset]dwarfFunction
	files     []*dwarf.LineFile // of the current unit
}

// A dwarfFunction holds the attributes of a function, from its own entry and those it refers to.
type dwarfFunction struct {
	name string
	file string
	line int
}

func (t *trainer) readSymbols(file *elf.File) error {
	symbols, err := file.Symbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			t.symbols = append(t.symbols, s)
		}
	}
	slices.SortFunc(t.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return nil
}

// symbol returns the symbol at an address.
func (t *trainer) symbol(address uint64) (string, bool) {
	i, _ := slices.BinarySearchFunc(t.symbols, address+1, func(s elf.Symbol, a uint64) int { return cmp.Compare(s.Value, a) })
	if i == 0 {
		return "", false
	}
	s := t.symbols[i-1]
	return s.Name, address < s.Value+s.Size
}

// A scope is a function with code, or an inlined function, with the functions inlined in it.
type scope struct {
	dwarfFunction
	ranges   [][2]uint64
	call     [2]uint32 // line and discriminator in the enclosing scope
	inner    []*scope
	indirect []uint64 // return addresses of indirect calls
}

func (s *scope) has(address uint64) bool {
	return slices.ContainsFunc(s.ranges, func(r [2]uint64) bool { return r[0] <= address && address < r[1] })
}

// unit adds the functions of a compilation unit.
func (t *trainer) unit(r *dwarf.Reader, unit *dwarf.Entry) error {
	lines, err := t.data.LineReader(unit)
	if err != nil || lines == nil {
		return err
	}
	t.files = lines.Files()
	root := &scope{}
	if unit.Children {
		if err := t.children(r, root); err != nil {
			return err
		}
	}
	rows, err := readRows(lines)
	if err != nil {
		return err
	}
	for _, s := range root.inner {
		t.samples(s, rows)
	}
	return nil
}

// children reads the entries nested in an entry, up to the end.
func (t *trainer) children(r *dwarf.Reader, outer *scope) error {
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == 0 {
			return nil
		}
		s := outer
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			if s, err = t.scope(e); err != nil {
				return err
			}
			outer.inner = append(outer.inner, s)
		case dwarf.TagCallSite:
			if pc, ok := e.Val(dwarf.AttrCallReturnPC).(uint64); ok && e.Val(dwarf.AttrCallOrigin) == nil {
				outer.indirect = append(outer.indirect, pc)
			}
		}
		if e.Children {
			if err := t.children(r, s); err != nil {
				return err
			}
		}
	}
}

const attrGNUDiscriminator = dwarf.Attr(0x2136)

func (t *trainer) scope(e *dwarf.Entry) (*scope, error) {
	f, err := t.function(e)
	if err != nil {
		return nil, err
	}
	ranges, err := t.data.Ranges(e)
	if err != nil {
		return nil, err
	}
	s := &scope{dwarfFunction: f, ranges: ranges}
	s.call[0] = uint32(number(e.Val(dwarf.AttrCallLine)))
	s.call[1] = uint32(number(e.Val(attrGNUDiscriminator)))
	return s, nil
}

func number(v any) int64 {
	n, _ := v.(int64)
	return n
}

// function collects the attributes of a function from an entry and the entries it refers to.
func (t *trainer) function(e *dwarf.Entry) (dwarfFunction, error) {
	if f, ok := t.functions[e.Offset]; ok {
		return f, nil
	}
	var f dwarfFunction
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if at, ok := e.Val(attr).(dwarf.Offset); ok {
			r := t.data.Reader()
			r.Seek(at)
			origin, err := r.Next()
			if err != nil {
				return f, err
			}
			if f, err = t.function(origin); err != nil {
				return f, err
			}
		}
	}
	if name, ok := e.Val(dwarf.AttrName).(string); ok && f.name == "" {
		f.name = name
	}
	if name, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
		f.name = name
	}
	if i := number(e.Val(dwarf.AttrDeclFile)); i > 0 && int(i) < len(t.files) && t.files[i] != nil {
		f.file = filepath.Clean(t.files[i].Name)
	}
	if line := number(e.Val(dwarf.AttrDeclLine)); line > 0 {
		f.line = int(line)
	}
	t.functions[e.Offset] = f
	return f, nil
}

// A row is a range of instructions of one line.
type row struct {
	from, to uint64
	file     string
	line     int
	disc     int
}

func readRows(lines *dwarf.LineReader) ([]row, error) {
	var rows []row
	var e dwarf.LineEntry
	for {
		if err := lines.Next(&e); err != nil {
			if err.Error() == "EOF" {
				return rows, nil
			}
			return nil, err
		}
		if n := len(rows); n > 0 && rows[n-1].to == 0 {
			rows[n-1].to = e.Address
		}
		if !e.EndSequence && e.File != nil {
			rows = append(rows, row{from: e.Address, file: filepath.Clean(e.File.Name), line: e.Line, disc: e.Discriminator})
		}
	}
}

// samples adds the rows of a function with code, for each symbol of its code.
func (t *trainer) samples(s *scope, rows []row) {
	bodies := make(map[string]*profile.Body)
	var names []string
	for _, r := range rows {
		name, ok := t.symbol(r.from)
		if r.from >= r.to || !s.has(r.from) || !ok || t.isCold(name) {
			continue
		}
		if bodies[name] == nil {
			bodies[name] = new(profile.Body)
			names = append(names, name)
		}
		t.row(bodies[name], s, r, t.heat(name))
	}
	file := t.profile.AddUnit(s.file)
	for _, name := range names {
		t.profile.AddFunction(t.profile.AddSymbol(file, name), profile.Function{
			HeadCount: 1 + t.random(name)%1000,
			Timestamp: 1 + t.random("first "+name)%1_000_000,
			Records:   bodies[name].Records(),
		})
	}
}

func (t *trainer) isCold(name string) bool {
	return slices.ContainsFunc(t.options.Cold, func(cold string) bool { return strings.HasPrefix(name, cold) })
}

// row adds the samples of a row in the scopes that contain it.
func (t *trainer) row(b *profile.Body, s *scope, r row, heat uint64) {
	depth := 0
	for i := 0; i < len(s.inner); i++ {
		in := s.inner[i]
		if !in.has(r.from) {
			continue
		}
		callee := t.profile.AddSymbol(t.profile.AddUnit(in.file), in.name)
		b.Enter(offset(int(in.call[0]), s.line), in.call[1], callee)
		depth++
		s, i = in, -1
	}
	if r.file == s.file {
		where := fmt.Sprint(s.name, r.line, r.disc)
		count := t.random(where) % heat
		if t.random("zero "+where)%5 == 0 {
			count = 0
		}
		line, disc := offset(r.line, s.line), uint32(r.disc)
		b.Count(line, disc, count)
		t.calls(b, s, r, line, disc)
	}
	for ; depth > 0; depth-- {
		b.Leave()
	}
}

// calls adds the targets of the indirect calls in a row.
func (t *trainer) calls(b *profile.Body, s *scope, r row, line, disc uint32) {
	for _, pc := range s.indirect {
		if pc <= r.from || pc > r.to {
			continue
		}
		for _, name := range t.options.Indirect {
			b.Call(line, disc, t.find(name), 1+t.random(fmt.Sprint("call ", s.name, name))%100_000)
		}
	}
}

// find returns the symbol with a name. A new symbol has an unknown file.
func (t *trainer) find(name string) profile.SymbolRef {
	for s := range t.profile.NumSymbols() {
		if t.profile.SymbolName(profile.SymbolRef(s)) == name {
			return profile.SymbolRef(s)
		}
	}
	return t.profile.AddSymbol(profile.UnknownUnit, name)
}

// offset returns a line as stored in profiles, in 16 bits.
func offset(line, declared int) uint32 { return uint32(uint16(line - declared)) }

// heat returns the maximum count of a function. Some functions are a thousand times as hot as
// others.
func (t *trainer) heat(name string) uint64 {
	return []uint64{20, 500, 10_000, 200_000}[t.random("heat "+name)%4]
}

// random returns a number that depends on its purpose.
func (t *trainer) random(what string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, t.options.Seed, " ", what)
	return h.Sum64() >> 7
}

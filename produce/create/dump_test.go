package create

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A flat profile lists the facts of a profile by readable keys: the chain of functions and the
// location. It has a map each for head counts, counts and calls.
type flat struct {
	positions map[string]uint64
	targets   map[string]uint64
	heads     map[string]uint64
}

func newFlat() flat {
	return flat{map[string]uint64{}, map[string]uint64{}, map[string]uint64{}}
}

func locationText(line, discriminator uint32) string {
	if discriminator == 0 {
		return strconv.Itoa(int(line))
	}
	return fmt.Sprintf("%d.%d", line, discriminator)
}

// flatten converts a profile to a flat one. If files is set, the names of functions in keys include
// the base name of their file.
func flatten(p *profile.Profile, files bool) flat {
	f := newFlat()
	name := func(s profile.SymbolRef) string {
		if files {
			return p.SymbolName(s) + ":" + base(p.UnitPath(p.SymbolUnit(s)))
		}
		return p.SymbolName(s)
	}
	for s, fn := range p.Functions() {
		f.heads[name(s)] += fn.HeadCount
		var walk func(records []profile.Record, at string)
		walk = func(records []profile.Record, at string) {
			for i := 0; i < len(records); i++ {
				r := records[i]
				key := at + " " + locationText(r.Line, r.Discriminator)
				switch r.Kind {
				case profile.KindCount:
					f.positions[key] += r.Count
				case profile.KindCall:
					f.targets[key+" "+p.SymbolName(r.Callee)] += r.Count
				case profile.KindInlined:
					walk(records[i+1:i+1+int(r.Count)], key+" "+name(r.Callee))
					i += int(r.Count)
				}
			}
		}
		walk(fn.Records, name(s))
	}
	return f
}

func base(p string) string {
	if p == "" {
		return ""
	}
	return path.Base(p)
}

var (
	dumpFunction = regexp.MustCompile(`^(\S*?):(\S*) total:\d+ head:(\d+)`)
	dumpInlined  = regexp.MustCompile(`^(\d+(?:\.\d+)?): (\S+?):(\S*) total:`)
	dumpPosition = regexp.MustCompile(`^(\d+(?:\.\d+)?): (\d+)(.*)`)
)

// readDump parses the output of google/autofdo's dump_gcov.
func readDump(t *testing.T, name string, files bool) flat {
	f := newFlat()
	type level struct {
		indent int
		path   string
	}
	var stack []level
	lines := bufio.NewScanner(bytes.NewReader(corpus(t, name)))
	lines.Buffer(nil, 1<<20)
	full := func(name, file string) string {
		if files {
			return name + ":" + base(file)
		}
		return name
	}
	for lines.Scan() {
		text := strings.TrimLeft(lines.Text(), " ")
		indent := len(lines.Text()) - len(text)
		if text == "" {
			continue
		}
		if m := dumpFunction.FindStringSubmatch(text); m != nil && indent == 0 {
			head, _ := strconv.ParseUint(m[3], 10, 64)
			f.heads[full(m[1], m[2])] += head
			stack = []level{{0, full(m[1], m[2])}}
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent && indent > 0 {
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			continue
		}
		at := stack[len(stack)-1].path
		if m := dumpInlined.FindStringSubmatch(text); m != nil {
			stack = append(stack, level{indent, at + " " + wrap(m[1]) + " " + full(m[2], m[3])})
			continue
		}
		m := dumpPosition.FindStringSubmatch(text)
		require.NotNil(t, m, text)
		count, err := strconv.ParseUint(m[2], 10, 64)
		require.NoError(t, err)
		at += " " + wrap(m[1])
		f.positions[at] += count
		for _, target := range strings.Fields(m[3]) {
			parts := strings.Split(target, ":")
			n, err := strconv.ParseUint(parts[len(parts)-1], 10, 64)
			require.NoError(t, err)
			f.targets[at+" "+parts[0]] += n
		}
	}
	return f
}

// wrap converts negative line offsets of 32 bits to the 16 bits that they have in profiles (format
// note 25).
func wrap(locationText string) string {
	line, rest, dotted := strings.Cut(locationText, ".")
	n, _ := strconv.ParseUint(line, 10, 64)
	if n < 1<<31 {
		return locationText
	}
	line = strconv.Itoa(int(n & 0xffff))
	if dotted {
		return line + "." + rest
	}
	return line
}

// silent returns a copy of f without the head counts of functions that have nothing but a head
// count.
func (f flat) silent() flat {
	for name, head := range f.heads {
		said := head > 0
		for position := range f.positions {
			said = said || strings.HasPrefix(position, name+" ")
		}
		if !said {
			delete(f.heads, name)
		}
	}
	return f
}

// corpus returns a file of the corpus of reference cases, which is not part of the repository.
func corpus(t testing.TB, name string) []byte {
	file, err := os.ReadFile(testenv.Corpus(t, "create", name))
	require.NoError(t, err)
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(file))
		require.NoError(t, err)
		file, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	return file
}

package tune

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/lines"
)

// A placement is how the code of a program is placed, as callgrind sees it run.
type placement struct {
	jumps  uint64 // taken jumps in the program's own code
	misses uint64 // of a simulated instruction cache, see cacheModel
	pages  uint64 // pages of the program's own code that were used
}

// cacheModel is the instruction cache that callgrind simulates: 32 KiB, 8 ways, lines of 64 bytes.
const cacheModel = "--I1=32768,8,64"

// pageSize is the size of the pages that placement counts.
const pageSize = 4096

// simulationSlowdown is how much slower programs are under callgrind with a simulated cache.
const simulationSlowdown = 100

// measurePlacement compares how the code of both programs is placed.
func (t *tuning) measurePlacement(ctx context.Context, try *Try) error {
	if t.NoCount {
		return nil
	}
	if ok, err := t.canSimulate(ctx, "taken jumps, cache misses and pages", simulationSlowdown); err != nil || !ok {
		return err
	}
	t.detail("counting jumps, cache misses and pages under callgrind")
	var counted [2]placement
	for i, copied := range []string{t.base, try.Folder} {
		for _, line := range t.Measure {
			folder, err := t.callgrind(ctx, t.inCopy(line, copied), copied, "--dump-instr=yes", "--collect-jumps=yes", "--cache-sim=yes", cacheModel)
			if err != nil {
				return t.uncounted(ctx, "taken jumps", err)
			}
			if err := counted[i].add(folder, copied); err != nil {
				return err
			}
		}
	}
	was, is := &counted[0], &counted[1]
	try.Measures = append(try.Measures, exactly("taken jumps", "", was.jumps, is.jumps),
		exactly("cache misses", "", was.misses, is.misses), exactly("pages of code", "", was.pages, is.pages))
	return nil
}

// add adds the counts of all files of callgrind in a folder. Programs of the tree are the program's
// own code; misses are those of all code, because they compete for the cache.
func (p *placement) add(folder, tree string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, path := range paths {
		if err := p.addFile(path, tree); err != nil {
			return err
		}
	}
	return err
}

func (p *placement) addFile(path, tree string) error {
	f, _, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	reader := callgrindReader{placement: p, tree: tree + string(os.PathSeparator), objects: make(map[string]string), pages: make(map[uint64]bool)}
	text := lines.New(f)
	for err = text.Next(); err == nil; err = text.Next() {
		reader.line(string(text.Line))
	}
	if err != io.EOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	p.pages += uint64(len(reader.pages))
	return nil
}

// A callgrindReader reads the lines of callgrind's output that are about placement.
type callgrindReader struct {
	*placement
	tree    string
	objects map[string]string // names by the number in parentheses that abbreviates them
	ours    bool              // the current object is in the tree
	misses  int               // position of I1mr among the events
	at      uint64            // address of the last cost line
	pages   map[uint64]bool
}

func (c *callgrindReader) line(line string) {
	key, value, _ := strings.Cut(line, "=")
	switch {
	case strings.HasPrefix(line, "events: "):
		for i, event := range strings.Fields(line)[1:] {
			if event == "I1mr" {
				c.misses = i + 1
			}
		}
	case strings.HasPrefix(line, "totals: "):
		c.placement.misses += number(field(line, c.misses))
	case key == "ob" || key == "cob":
		c.object(value, key == "ob")
	case key == "jump" || key == "jcnd":
		if c.ours {
			taken, _, _ := strings.Cut(field(value, 0), "/")
			c.jumps += number(taken)
		}
	case line != "" && strings.IndexByte("0123456789+-*", line[0]) >= 0:
		c.cost(field(line, 0))
	}
}

// object reads the name of an object, which is written once and then abbreviated.
func (c *callgrindReader) object(value string, current bool) {
	id, name, named := strings.Cut(value, " ")
	if named {
		c.objects[id] = name
	}
	if current {
		c.ours = strings.HasPrefix(c.objects[id], c.tree)
	}
}

// cost notes the page of a cost line, whose address may be relative to the one before.
func (c *callgrindReader) cost(address string) {
	switch {
	case strings.HasPrefix(address, "+"):
		c.at += number(address[1:])
	case strings.HasPrefix(address, "-"):
		c.at -= number(address[1:])
	case address != "*":
		c.at, _ = strconv.ParseUint(address, 0, 64)
	}
	if c.ours {
		c.pages[c.at/pageSize] = true
	}
}

// field returns a word of a line, "" if there are fewer.
func field(line string, i int) string {
	words := strings.Fields(line)
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}

// number returns the value of digits, 0 for anything else.
func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

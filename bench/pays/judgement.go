package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/go-afdo/afdo/profile"
)

// A judgement is what GCC 16 says of a profile when it compiles one of the sources of which the
// profile was made (-fdump-ipa-afdo_offline-all). Locations are written as GCC writes them, 3 or
// 3.1, and paths of inlined functions too: "g:7 f:3 h" is h that is inlined in g, which is inlined
// in f.
type judgement struct {
	defined map[string]bool            // functions of the sources
	bodies  map[string]map[string]bool // by path: the locations that have statements
	plain   map[string]string          // by symbol: the names of functions that profiles have by their plain names
}

// A verdict is what has become of a count.
type verdict int

const (
	found    verdict = iota // there are statements at its place
	apart                   // the call is not there, and statements of the function by itself are
	border                  // it is where a function begins or ends, which has no statement
	nowhere                 // the function has no statement there
	bodiless                // the inlined function is in the sources, and the call is not
	foreign                 // the function is not in the sources
	numVerdicts
)

var verdictNames = [numVerdicts]string{"found", "found apart", "begin or end", "no statement", "no call", "no function"}

func newJudgement() *judgement {
	return &judgement{defined: make(map[string]bool), bodies: make(map[string]map[string]bool), plain: make(map[string]string)}
}

var (
	dumpDefined = regexp.MustCompile(`^(.+) is defined in node `)
	dumpBody    = regexp.MustCompile(`^Matching gimple function .* with auto profile: (.*\S)`)
	dumpPlain   = regexp.MustCompile(`^Adding dwarf->symbol rename (.+) -> (\S+)`)
	dumpPlace   = regexp.MustCompile(`^ +(-?\d+(?:\.\d+)?) +(\d+|inlined) `)
)

// read reads a dump.
func (j *judgement) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	var body map[string]bool
	for lines.Scan() {
		line := lines.Text()
		if m := dumpBody.FindStringSubmatch(line); m != nil {
			path := j.plainPath(m[1])
			if body = j.bodies[path]; body == nil {
				body = make(map[string]bool)
				j.bodies[path] = body
			}
		} else if m := dumpPlace.FindStringSubmatch(line); m != nil && body != nil {
			body[m[1]] = true
		} else if m := dumpDefined.FindStringSubmatch(line); m != nil {
			j.defined[j.name(m[1])] = true
		} else if m := dumpPlain.FindStringSubmatch(line); m != nil {
			j.plain[m[2]] = m[1]
		}
	}
	return lines.Err()
}

// A frame is a function and a place in it.
type frame struct{ name, place string }

// of judges a count at a place in the body that the frames lead to, outermost first. The place of a
// frame is where the next one was inlined in it, or where the count is.
func (j *judgement) of(frames []frame) verdict {
	leaf := frames[len(frames)-1]
	path := j.name(leaf.name)
	verdict := foreign
	if j.defined[path] {
		verdict = bodiless
	}
	for i := len(frames) - 1; i >= 0; i-- {
		body := j.bodies[path]
		switch {
		case body[leaf.place] && i == 0:
			return found
		case body[leaf.place]:
			verdict = min(verdict, apart)
		case body == nil:
		case atBorder(body, leaf.place):
			verdict = min(verdict, border)
		default:
			verdict = min(verdict, nowhere)
		}
		if i > 0 {
			path = j.path(frames[i-1:])
		}
	}
	return verdict
}

// path writes frames as GCC does, but with plain names.
func (j *judgement) path(frames []frame) string {
	last := len(frames) - 1
	var text strings.Builder
	for i := last - 1; i >= 0; i-- {
		text.WriteString(j.name(frames[i].name) + ":" + frames[i].place + " ")
	}
	return text.String() + j.name(frames[last].name)
}

// name returns the plain name of a symbol if the profile may have it by that.
func (j *judgement) name(symbol string) string {
	if plain, ok := j.plain[symbol]; ok {
		return plain
	}
	return symbol
}

// plainPath returns a path that GCC has written with plain names.
func (j *judgement) plainPath(path string) string {
	words := strings.Split(path, " ")
	for i, word := range words {
		symbol, place, called := strings.Cut(word, ":")
		if words[i] = j.name(symbol); called {
			words[i] += ":" + place
		}
	}
	return strings.Join(words, " ")
}

// atBorder tells whether a place is before the first statement of a function or behind its last.
func atBorder(body map[string]bool, place string) bool {
	first, last := math.MaxInt, math.MinInt
	for p := range body {
		first, last = min(first, lineOf(p)), max(last, lineOf(p))
	}
	line := lineOf(place)
	return line < first || line > last
}

func lineOf(place string) (line int) {
	_, _ = fmt.Sscanf(place, "%d", &line)
	return line
}

func placeOf(r *profile.Record) string {
	line := int(r.Line)
	if line >= 1<<15 {
		line -= 1 << 16
	}
	if r.Discriminator != 0 {
		return fmt.Sprintf("%d.%d", line, r.Discriminator)
	}
	return fmt.Sprint(line)
}

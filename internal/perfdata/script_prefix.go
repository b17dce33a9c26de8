package perfdata

import (
	"bytes"
	"math"

	"github.com/go-afdo/afdo/internal/lines"
)

// A words iterates over the words of a line of perf script.
type words struct {
	line       []byte
	word       []byte
	start, end int // range of word in line
}

func (w *words) next() bool {
	w.start = w.end
	for w.start < len(w.line) && lines.IsBlank(w.line[w.start]) {
		w.start++
	}
	w.end = w.start
	for w.end < len(w.line) && !lines.IsBlank(w.line[w.end]) {
		w.end++
	}
	w.word = w.line[w.start:w.end]
	return len(w.word) > 0
}

// hexWord parses a word that consists of a hexadecimal number.
func hexWord(word []byte) (uint64, bool) {
	n, length, ok := lines.Number(word, 16)
	return n, ok && length > 0 && length == len(word)
}

// timeWord parses a time such as "914937.300960:" into nanoseconds.
func timeWord(word []byte) (uint64, bool) {
	seconds, length, ok := lines.Number(word, 10)
	if !ok || length == 0 || seconds > math.MaxInt64/1_000_000_000 || length == len(word) || word[length] != '.' {
		return 0, false
	}
	fraction := word[length+1:]
	n, digits, _ := lines.Number(fraction, 10)
	if digits == 0 || digits > 9 || string(fraction[digits:]) != ":" {
		return 0, false
	}
	for range 9 - digits {
		n *= 10
	}
	return seconds*1_000_000_000 + n, true
}

// threadWord parses "pid/tid", or a single number, which is a TID.
func threadWord(word []byte) (pid, tid int32, ok bool) {
	pid, rest, ok := int32Word(word)
	if !ok {
		return UnknownPID, UnknownPID, false
	}
	if len(rest) == 0 {
		return UnknownPID, pid, true
	}
	tid, end, ok := int32Word(rest[1:])
	if rest[0] != '/' || !ok || len(end) > 0 {
		return UnknownPID, UnknownPID, false
	}
	return pid, tid, true
}

// int32Word parses a decimal number, possibly negative, at the start of a word.
func int32Word(word []byte) (n int32, rest []byte, ok bool) {
	digits := bytes.TrimPrefix(word, []byte("-"))
	v, length, ok := lines.Number(digits, 10)
	if !ok || length == 0 || v > math.MaxInt32 {
		return 0, word, false
	}
	if n = int32(v); len(digits) < len(word) {
		n = -n
	}
	return n, digits[length:], true
}

// A prefix is what a line of perf script has before the address of a sample, or before the name of
// another record: the thread, the time, the event and so on.
type prefix struct {
	pid, tid int32
	time     uint64
	end      int // index of the byte after the prefix
}

// readPrefix parses "COMM PID/TID [CPU] TIME: PERIOD EVENT:", in which every part may be missing.
// It returns false if there is neither a thread nor a time; then the line begins with the address.
func readPrefix(line []byte) (prefix, bool) {
	p := prefix{pid: UnknownPID, tid: UnknownPID}
	var before []byte // the previous word, ignoring [CPU]
	w := words{line: line}
	aligned := alignedAddress(line)
	for w.next() && !isBranch(w.word) {
		if time, ok := timeWord(w.word); ok {
			p.pid, p.tid, _ = threadWord(before)
			p.time = time
			if p.end = aligned; aligned < w.end {
				p.end = afterEvent(line, w.end)
			}
			return p, true
		}
		if w.word[0] != '[' {
			before = w.word
		}
	}
	if aligned >= 0 {
		return p.before(line, aligned)
	}
	return p.withoutTime(line)
}

// addressWidth is the width of the column in which perf prints an address.
const addressWidth = 16

// alignedAddress returns the index of an address in a column of its own, as printed by perf, or -1.
// A symbol that looks like an address is preceded by a single blank, so it is not aligned.
func alignedAddress(line []byte) int {
	at, before := -1, 0
	for w := (words{line: line}); w.next() && !isBranch(w.word) && w.word[0] != '('; before = w.end {
		if _, ok := hexWord(w.word); ok && w.end-before >= addressWidth {
			at = w.start
		}
	}
	return at
}

// before finds the thread in the text before the address of a sample, such as "COMM PID/TID [CPU]
// PERIOD EVENT:". address is the index of the address in the line, where the prefix ends.
func (p prefix) before(line []byte, address int) (prefix, bool) {
	p.end = address
	for w := (words{line: line[:address]}); w.next(); {
		var ok bool
		if p.pid, p.tid, ok = threadWord(w.word); ok {
			break
		}
	}
	return p, true
}

// afterEvent returns the index after "PERIOD EVENT:" or "EVENT:", or at if there is neither.
func afterEvent(line []byte, at int) int {
	w := words{line: line, end: at}
	for range 2 {
		if !w.next() {
			return at
		}
		if w.word[len(w.word)-1] == ':' {
			return w.end
		}
		if _, rest, ok := int32Word(w.word); !ok || len(rest) > 0 {
			return at
		}
	}
	return at
}

// eventName returns the name of the event in a prefix: the last word that ends with a colon, after
// the thread and the time if there are any. It returns nil if there is none.
func eventName(prefix []byte) (name []byte) {
	for w := (words{line: prefix}); w.next(); {
		_, isTime := timeWord(w.word)
		if _, _, isThread := threadWord(w.word); isTime || isThread {
			name = nil // a word of the command
		} else if len(w.word) > 1 && w.word[len(w.word)-1] == ':' {
			name = w.word[:len(w.word)-1]
		}
	}
	return name
}

// withoutTime parses "COMM PID/TID [CPU]" before the address of a sample, on a line without a time.
// It takes the first number that a hexadecimal number follows for the thread, and the hexadecimal
// number for the address. There is one exception: if a file in parentheses follows, the first
// number is the address, and the second one is a symbol.
func (p prefix) withoutTime(line []byte) (prefix, bool) {
	w := words{line: line}
	for w.next() && !isBranch(w.word) {
		pid, tid, ok := threadWord(w.word)
		if !ok {
			continue
		}
		next := words{line: line, end: w.end}
		next.next()
		if len(next.word) > 0 && next.word[0] == '[' {
			next.next()
		}
		if _, ok := hexWord(next.word); !ok {
			continue
		}
		if symbol := (words{line: line, end: next.end}); symbol.next() && symbol.word[0] == '(' {
			continue
		}
		p.pid, p.tid, p.end = pid, tid, next.start
		return p, true
	}
	return p.withoutAddress(line)
}

// withoutAddress parses "COMM PID/TID EVENT:" on a line without an address, in which every part may
// be missing. Branches may follow, or a call chain on the next lines. A line without branches ends
// with the thread or the event.
func (p prefix) withoutAddress(line []byte) (prefix, bool) {
	none, complete := p, false
	w := words{line: line}
	for w.next() && !isBranch(w.word) {
		if _, isAddress := hexWord(w.word); isAddress && p.end == 0 || isBranchBySymbol(w.word) {
			return none, false
		}
		pid, tid, isThread := threadWord(w.word)
		if isThread && p.tid == UnknownPID {
			p.pid, p.tid = pid, tid
		}
		p.end = w.end
		complete = isThread || w.word[len(w.word)-1] == ':'
	}
	if !complete && !isBranch(w.word) {
		return none, false
	}
	return p, true
}

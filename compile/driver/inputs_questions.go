package driver

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
)

// A question is a file that a source asks for with __has_include. The answer decides which code is
// compiled, but the preprocessed text does not show it.
type question struct {
	folder string // of the file that asks; empty if it does not count, as for <name>
	name   string
}

// The names that ask for files: "__has_include", "__has_include_next", which only asks the folders
// after the folder of the asking file, and "__has_embed", whose answer also depends on the content
// of the file and is not followed. One search for their common beginning finds all of them.
const (
	hasFile     = "__has_"
	includes    = "include"
	includeNext = "include_next"
	embeds      = "embed"
)

// isFileQuery reports whether the rest of a "__has_" identifier is include, include_next or embed.
func isFileQuery(rest string) bool { return rest == includes || rest == includeNext || rest == embeds }

// An asker finds questions in the text of sources and headers.
type asker struct {
	names   []string // hasFile, and the macros that stand for it
	found   map[question]bool
	unclear bool // a question hides its file in a macro
}

// The limits of findQuestions, in bytes. Line markers may name large files, and many of them, that
// the compiler does not read.
const (
	maxMarked = 64 << 20 // of one file, all of which is in memory
	maxRead   = 1 << 30  // of all files, which takes about a second; a file is read again for each new macro
)

// findQuestions returns the questions of files. It reports whether these are all. They are not if a
// question depends on a macro, or if the files are too large. Files that are not regular or cannot
// be read have no questions.
func (f *finder) findQuestions(paths []string) (all []question, sure bool) {
	a := asker{names: []string{hasFile}, found: make(map[question]bool)}
	for _, arg := range f.PreprocessArgs() {
		a.unclear = a.unclear || strings.Contains(arg, hasFile+includes) || strings.Contains(arg, hasFile+embeds)
	}
	text, left := []byte(nil), int64(maxRead)
	for done := 0; done < len(a.names) && !a.unclear; { // again for new macros
		names := a.names[done:]
		done = len(a.names)
		for _, file := range paths {
			var err error
			text, err = files.AppendFile(text[:0], f.Path(file), min(left, maxMarked))
			if left -= int64(len(text)); errors.Is(err, files.ErrTooLarge) {
				a.unclear = true
				break
			}
			for _, name := range names {
				a.search(text, []byte(name), filepath.Dir(file))
			}
		}
	}
	for q := range a.found {
		all = append(all, q)
	}
	return all, !a.unclear
}

// search looks for a name in directives.
func (a *asker) search(text, name []byte, folder string) {
	for from := 0; ; {
		n := bytes.Index(text[from:], name)
		if n < 0 {
			return
		}
		at := from + n
		from = at + len(name)
		if string(name) == hasFile && !isFileQuery(firstName(text[from:])) {
			continue
		}
		start, end := lineStart(text, at), lineEnd(text, at)
		line := bytes.TrimSpace(withoutComments(text[start:end]))
		if directive, ok := bytes.CutPrefix(line, []byte("#")); ok {
			a.directive(bytes.TrimSpace(directive), name, folder)
		}
		from = end
	}
}

// directive reads a directive that contains a name.
func (a *asker) directive(line, name []byte, folder string) {
	what := firstName(line)
	switch rest := line[len(what):]; what {
	case "if", "elif":
		a.condition(rest, name, folder, nil)
	case "define":
		a.definition(bytes.TrimSpace(rest), name, folder)
	}
}

// A macro is what a #define defines.
type macro struct {
	name   string
	params []string
}

// definition reads the definition of a macro.
func (a *asker) definition(text, name []byte, folder string) {
	m := macro{name: firstName(text)}
	body := text[len(m.name):]
	if rest, ok := strings.CutPrefix(m.name, hasFile); m.name == string(name) || ok && isFileQuery(rest) {
		return // for compilers that do not have it
	}
	if len(body) > 0 && body[0] == '(' {
		params, after, _ := bytes.Cut(body[1:], []byte{')'})
		for param := range bytes.SplitSeq(params, []byte{','}) {
			m.params = append(m.params, string(bytes.TrimSpace(param)))
		}
		body = after
	}
	a.condition(body, name, folder, &m)
}

// condition reads the questions in a condition, or in the macro that replaces one.
func (a *asker) condition(text, name []byte, folder string, m *macro) {
	for {
		at := bytes.Index(text, name)
		if at < 0 {
			return
		}
		before, rest := text[:at], text[at+len(name):]
		end := firstName(rest)
		text = rest[len(end):]
		isAsked := end == "" || string(name) == hasFile && isFileQuery(end)
		if len(before) > 0 && isNameByte(before[len(before)-1]) || !isAsked || asksDefined(before) {
			continue // it is part of another name, or itself not asked
		}
		operand, called := bytes.CutPrefix(bytes.TrimSpace(text), []byte("("))
		operand = bytes.TrimSpace(operand)
		switch {
		case end == embeds:
			a.unclear = true
		case a.ask(operand, folder):
		case m != nil && (!called || slices.Contains(m.params, firstName(operand))):
			a.add(m.name)
		default:
			a.unclear = true
		}
	}
}

// asksDefined reports whether what follows is asked to be defined.
func asksDefined(before []byte) bool {
	before = bytes.TrimSuffix(bytes.TrimSpace(before), []byte("("))
	return bytes.HasSuffix(bytes.TrimSpace(before), []byte("defined"))
}

// ask notes an operand that is the name of a header.
func (a *asker) ask(operand []byte, folder string) bool {
	if len(operand) == 0 {
		return false
	}
	end := operand[0]
	switch end {
	case '<':
		end, folder = '>', ""
	case '"':
	default:
		return false
	}
	name, _, ok := bytes.Cut(operand[1:], []byte{end})
	if ok {
		a.found[question{folder, string(name)}] = true
	}
	return ok
}

func (a *asker) add(name string) {
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
}

func firstName(text []byte) string {
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	return string(text[:n])
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || isDigit(c)
}

// lineStart returns the beginning of a line. The line may have been continued with backslashes.
func lineStart(text []byte, at int) int {
	for {
		at = bytes.LastIndexByte(text[:at], '\n') + 1
		if at == 0 || !goesOn(text[:at-1]) {
			return at
		}
		at--
	}
}

func lineEnd(text []byte, at int) int {
	for {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n
		if !goesOn(text[:at]) {
			return at
		}
		at++
	}
}

// goesOn reports whether a line ends in a backslash.
func goesOn(line []byte) bool {
	return bytes.HasSuffix(bytes.TrimSuffix(line, []byte{'\r'}), []byte{'\\'})
}

// withoutComments returns a line in one piece, with a blank for each comment.
func withoutComments(line []byte) []byte {
	line = bytes.ReplaceAll(bytes.ReplaceAll(line, []byte("\\\r\n"), nil), []byte("\\\n"), nil)
	var out []byte
	for {
		at := bytes.IndexByte(line, '/')
		if at < 0 || at+1 == len(line) {
			return append(out, line...)
		}
		switch line[at+1] {
		case '/':
			return append(out, line[:at]...)
		case '*':
			out = append(append(out, line[:at]...), ' ')
			_, rest, _ := bytes.Cut(line[at+2:], []byte("*/"))
			line = rest
		default:
			out, line = append(out, line[:at+1]...), line[at+1:]
		}
	}
}

// settingFiles returns the files of options that a compiler with -v reports: specs of GCC and
// configurations of clang. It adds the files that clang's configurations name, which clang does not
// report.
func (f *finder) settingFiles(said []byte) (files []string) {
	for line := range bytes.Lines(said) {
		name := string(bytes.TrimRight(line, "\r\n"))
		if specs, ok := strings.CutPrefix(name, "Reading specs from "); ok {
			files = append(files, specs)
		}
		if configuration, ok := strings.CutPrefix(name, "Configuration file: "); ok {
			files = f.addConfiguration(files, configuration)
		}
	}
	return files
}

// maxSettingFiles bounds how many files of options are looked at.
const maxSettingFiles = 1 << 8

// addConfiguration adds a configuration of clang, and those that it names as "@FILE", from its own
// folder on, or as "--config=FILE".
func (f *finder) addConfiguration(files []string, name string) []string {
	if len(files) >= maxSettingFiles || slices.Contains(files, name) {
		return files
	}
	files = append(files, name)
	folder := filepath.Dir(record.PathIn(f.Dir, name))
	for line := range bytes.Lines(readSource(record.PathIn(f.Dir, name))) {
		for _, word := range strings.Fields(string(line)) {
			if strings.HasPrefix(word, "#") {
				break
			}
			word = strings.Trim(word, `"'`)
			inner, ok := strings.CutPrefix(word, "@")
			if !ok {
				inner, ok = strings.CutPrefix(word, "--config=")
			}
			if ok {
				inner = strings.ReplaceAll(inner, "<CFGDIR>", folder)
				files = f.addConfiguration(files, record.PathIn(folder, inner))
			}
		}
	}
	return files
}

package command

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/internal/files"
)

// A Line is a parsed command line of GCC or clang.
type Line struct {
	Dir      string   // in which the compiler runs; absolute
	Env      []string // environment of the compiler, NAME=VALUE; the last one of a name counts
	Launcher []string // words before the compiler, such as ccache or nice
	Compiler string   // as the user spelled it
	Args     []string // arguments of the compiler

	// Reason says why the command cannot use a profile. It is empty if the command compiles.
	Reason Reason

	Sources []string // files that the command compiles
	Object  string   // path of the output, of the first object if there are several

	// Profile is the value of the last -fauto-profile, or "" if there is none.
	Profile string

	// LTO reports whether -flto is set.
	LTO bool

	// Clang reports whether the compiler is clang. Use is clang's option for the profile, up to its
	// "=", or "" if the command has none.
	Clang bool
	Use   string

	// Stdin is the source text from standard input, if TakeStdin was called.
	Stdin []byte

	words        []word // Args, with the content of response files in place of their names
	output       string // value of -o
	language     string // value of the last -x so far
	stage        stage
	information  bool // the compiler only prints information
	stdin        bool // standard input is a source
	unclear      bool // compilers split a response file into different words
	declined     bool // has -fno-auto-profile
	preprocessed bool // has -fpreprocessed
	header       bool // a header is precompiled
	frontEnd     bool // clang's command for its own front end
}

// A word is an argument of the compiler. If the next argument is the value of an option, the word
// includes it.
type word struct {
	text     string
	value    string
	hasValue bool
	at       int       // index in Args, -1 if it is from a response file
	option   string    // value of the last -x before it
	source   *language // language, if the word is a file that is compiled
}

// A stage is the last step that a command runs, such as preprocessing or linking.
type stage uint8

const (
	stageLink stage = iota
	stageObject
	stageAssembly
	stageSyntax
	stagePreprocess
)

// Parse parses a command line that runs in dir, an absolute path. It separates launchers before the
// compiler, such as ccache, nice and env, with their arguments. It applies what env changes for the
// compiler: the environment, which else is that of this process, and the folder.
func Parse(argv []string, dir string) *Line {
	c := &Line{Dir: dir, Env: os.Environ()}
	argv = c.splitLaunchers(argv)
	if len(argv) > 0 {
		c.Compiler, c.Args = argv[0], argv[1:]
	}
	c.Clang = c.isNamed(hasClangName)
	if !c.Clang && !c.isNamed(hasCompilerName) {
		c.Reason = NoGCC
		return c
	}
	c.readArgs()
	return c
}

// readArgs parses the arguments of the compiler, and sets the fields of Line that depend on them,
// such as the sources.
func (c *Line) readArgs() {
	c.expand(c.Args, 0)
	for i := range c.words {
		c.read(&c.words[i])
	}
	c.Object = c.object()
	c.Reason = c.judge()
}

// Links reports whether the command makes a program or a library of the sources.
func (c *Line) Links() bool { return c.stage == stageLink }

// Path returns a path in the command line as an absolute path.
func (c *Line) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}

// Paths returns paths in the command line as absolute paths.
func (c *Line) Paths(names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = c.Path(name)
	}
	return paths
}

// Limits for response files: the depth of files that include each other, the size of each file in
// bytes, and the number of words of the command line in all.
const (
	maxResponseDepth = 16
	maxResponseSize  = 16 << 20
	maxWords         = 1 << 20
)

// expand appends arguments to c.words, with the content of each response file in place of its name.
// If a response file cannot be read, GCC takes its name for a source, and so does expand. It makes
// one word of an option and its value.
func (c *Line) expand(args []string, depth int) {
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "@"); ok && depth < maxResponseDepth && len(c.words) < maxWords {
			if text, err := files.ReadFile(c.Path(name), maxResponseSize); err == nil {
				words, unclear := SplitWords(string(text))
				c.unclear = c.unclear || unclear
				c.expand(words, depth+1)
				continue
			}
		}
		if last := len(c.words) - 1; last >= 0 && !c.words[last].hasValue && takesValue()[c.words[last].text] {
			c.words[last].value, c.words[last].hasValue = arg, true // one of the two may be in a response file
			continue
		}
		if depth > 0 {
			i = -1
		}
		c.words = append(c.words, word{text: arg, at: i})
	}
}

// takesValue returns the set of options whose value is the next argument.
var takesValue = sync.OnceValue(func() map[string]bool {
	options := make(map[string]bool)
	for _, option := range strings.Fields(`
		-o -x -I -J -D -U -L -l -B -A -F -T -u -z -e -h -R -G -b -V -Tdata -Ttext -Tbss
		-include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix -iwithprefixbefore
		-isysroot -imultilib -imultiarch -cxx-isystem -isystem-after -iwithsysroot -iframework -iframeworkwithsysroot -framework -arch
		-MF -MT -MQ -Xpreprocessor -Xassembler -Xlinker -aux-info -wrapper -specs
		-Xclangas -Xarch_host -Xarch_device -resource-dir -stdlib++-isystem -working-directory -dependency-file -vfsoverlay
		-Xclang -mllvm -target -include-pch -MJ -Xanalyzer -Xopenmp-target -ivfsoverlay --config
		-serialize-diagnostics --serialize-diagnostics -dumpbase -dumpbase-ext -dumpdir -auxbase -auxbase-strip
		--param --sysroot --specs --output --language --assert --include --imacros --include-directory --include-directory-after
		--include-prefix --include-with-prefix --include-with-prefix-after --include-with-prefix-before
		--define-macro --undefine-macro`) {
		options[option] = true
	}
	return options
})

// read interprets one argument of the compiler: an option with or without a value, or the name of a
// file.
func (c *Line) read(w *word) {
	switch {
	case w.text == "-" || !strings.HasPrefix(w.text, "-"):
		c.readFile(w)
	case w.hasValue && (w.text == "-o" || w.text == "--output"):
		c.output = w.value
	case w.hasValue && (w.text == "-x" || w.text == "--language"):
		c.language = w.value
	case !w.hasValue:
		c.readOption(w.text)
	}
}

// readOption stores what an option means for the fields of Line, such as -c. It gets only options
// whose value is not in the next argument.
func (c *Line) readOption(option string) {
	if c.Clang && c.readClang(option) {
		return
	}
	switch option {
	case "-c", "--compile":
		c.stage = max(c.stage, stageObject)
	case "-S", "--assemble":
		c.stage = max(c.stage, stageAssembly)
	case "-fsyntax-only":
		c.stage = max(c.stage, stageSyntax)
	case "-E", "--preprocess", "-M", "-MM", "--dependencies", "--user-dependencies":
		c.stage = stagePreprocess
	case "-fpreprocessed":
		c.preprocessed = true
	case "-fno-preprocessed":
		c.preprocessed = false
	case "-###", "--version", "--help", "--target-help":
		c.information = true
	case "-fauto-profile":
		c.setProfile("fbdata.afdo") // GCC's own default
	case "-fno-auto-profile":
		c.Profile, c.declined = "", true
	case "-flto":
		c.LTO = true
	case "-fno-lto":
		c.LTO = false
	default:
		c.readJoined(option)
	}
}

// readJoined stores what an option means for the fields of Line if the option has its value in the
// same argument, such as -flto=auto.
func (c *Line) readJoined(option string) {
	for _, o := range []struct {
		prefix string
		set    func(value string)
	}{
		{"-fauto-profile=", c.setProfile},
		{"-flto=", func(string) { c.LTO = true }},
		{"-dump", func(what string) { // unlike -dumpbase, these only print information
			c.information = c.information || slices.Contains([]string{"version", "fullversion", "machine", "specs"}, what)
		}},
		{"-print-", func(string) { c.information = true }},
		{"--print-", func(string) { c.information = true }},
		{"--help=", func(string) { c.information = true }},
		{"-o", func(value string) { c.output = value }},
		{"--output=", func(value string) { c.output = value }},
		{"-x", func(value string) { c.language = value }},
		{"--language=", func(value string) { c.language = value }},
	} {
		if value, ok := strings.CutPrefix(option, o.prefix); ok {
			o.set(value)
			return
		}
	}
}

// setProfile sets the profile of the command. It replaces an earlier option that turns the profile
// off.
func (c *Line) setProfile(file string) { c.Profile, c.declined = file, false }

// readFile handles the name of a file, which may be a source.
func (c *Line) readFile(w *word) {
	w.option = c.language
	if w.text == "-" {
		c.stdin = true
		return
	}
	c.header = c.header || isHeader(c.language, w.text)
	w.source = languageOf(c.language, w.text)
	if w.source != nil && w.source.foreign && c.Clang {
		w.source = nil
	}
	if w.source != nil {
		c.Sources = append(c.Sources, w.text)
	}
}

// object returns the path of the object or program that the command writes.
func (c *Line) object() string {
	if c.output != "" {
		return c.output
	}
	if len(c.Sources) == 0 {
		return ""
	}
	base := filepath.Base(c.Sources[0])
	base = strings.TrimSuffix(base, filepath.Ext(base))
	switch c.stage {
	case stageObject:
		return base + ".o"
	case stageAssembly:
		return base + ".s"
	}
	return "a.out"
}

// judge returns the reason why the command cannot use a profile, or "".
func (c *Line) judge() Reason {
	switch {
	case c.information:
		return AsksCompiler
	case c.frontEnd:
		return CompilesNothing
	case c.stage == stagePreprocess:
		return OnlyPreprocesses
	case c.stage == stageSyntax:
		return OnlyChecks
	case c.stdin || slices.ContainsFunc(c.Sources, c.readOnce):
		return ReadsStdin
	case len(c.Sources) == 0:
		return CompilesNothing
	case slices.ContainsFunc(c.Sources, c.isOfTrial):
		return Trial
	case c.declined:
		return Declined
	case slices.ContainsFunc([]string{"--coverage", "-fprofile-arcs", "-fprofile-generate", "-fprofile-instr-generate"}, c.Mentions):
		return Instruments
	}
	return ""
}

// isOfTrial reports whether configure, CMake or Meson has generated a source to test what the
// compiler can do. Such a source is compiled without the profile, because the profile must not
// change the result of the test. There is another reason for configure: old scripts take any file
// conftest.* for the object, so a slice beside the object would confuse them.
func (c *Line) isOfTrial(source string) bool {
	source = filepath.ToSlash(c.Path(source)) // Meson compiles some in their folder
	name := path.Base(source)
	prefixes := []string{"conftest.", "testCCompiler.", "testCXXCompiler.", "CMakeCCompilerId.", "CMakeCXXCompilerId.", "CMakeCCompilerABI.", "CMakeCXXCompilerABI."}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) ||
		strings.Contains(source, "/CMakeFiles/CMakeTmp/") || strings.Contains(source, "/CMakeFiles/CMakeScratch/") || strings.Contains(source, "/meson-private/")
}

// readOnce reports whether a source can be read only once, such as /dev/stdin or a named pipe. If
// the launcher afdo exec read it, the compiler could not.
func (c *Line) readOnce(source string) bool {
	info, err := os.Stat(c.Path(source))
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() || strings.HasPrefix(filepath.ToSlash(source), "/dev/")
}

// WithProfile returns the command line with another profile. It replaces the last option for a
// profile, or adds one before all other options. If file is "", it only removes the last option for
// a profile.
func (c *Line) WithProfile(file string) []string {
	var option []string
	if file != "" {
		option = []string{c.useOption() + file}
	}
	from, to := 0, 0
	for _, w := range c.words {
		if !c.isProfileOption(w.text) {
			continue
		}
		from, to = w.at, w.at+1
		if w.at < 0 { // only what comes behind the response file counts
			from, to = len(c.Args), len(c.Args)
		}
	}
	argv := append(slices.Clone(c.Launcher), c.Compiler)
	argv = append(argv, c.Args[:from]...)
	argv = append(argv, option...)
	return append(argv, c.Args[to:]...)
}

// Argv returns the command line as it was given to Parse.
func (c *Line) Argv() []string {
	return append(append(slices.Clone(c.Launcher), c.Compiler), c.Args...)
}

// PreprocessArgs returns the compiler arguments for preprocessing the command's sources, except -E.
// It leaves out sources that are preprocessed already.
func (c *Line) PreprocessArgs() []string {
	return c.argsFor(func(w *word) bool { return !c.isPreprocessed(w) })
}

// CheckArgs returns the compiler arguments for checking the command's sources without writing an
// object.
func (c *Line) CheckArgs() []string {
	return append(c.argsFor(func(*word) bool { return true }), "-w", "-fsyntax-only")
}

// argsFor returns those arguments of the compiler that affect how sources are compiled, and those
// sources for which wanted returns true. It leaves out arguments that select the kind or the path
// of the output.
func (c *Line) argsFor(wanted func(source *word) bool) []string {
	var args []string
	for _, w := range c.words {
		switch {
		case w.text == "-" || !strings.HasPrefix(w.text, "-"):
			if w.source == nil || !wanted(&w) {
				continue
			}
		case !forPreprocessor(w.text) || c.isProfileOption(w.text):
			continue
		}
		args = append(args, w.text)
		if w.hasValue {
			args = append(args, w.value)
		}
	}
	return args
}

// forPreprocessor reports whether an option affects how sources are compiled. It returns false for
// options that select the outputs of the compiler.
func forPreprocessor(option string) bool {
	switch option {
	case "--", "-c", "-S", "-P", "-C", "-CC", "-MD", "-MMD", "-MP", "-MG", "-MV", "-v", "-fdirectives-only",
		"--compile", "--assemble", "--write-dependencies", "--write-user-dependencies", "-wrapper":
		return false
	}
	if strings.HasPrefix(option, "-Wp,-MD,") || strings.HasPrefix(option, "-Wp,-MMD,") {
		return strings.Count(option, ",") > 2 // it has other options as well
	}
	for _, prefix := range []string{
		"-o", "--output", "-MF", "-MT", "-MQ", "-save-temps", "--save-temps", "-d", "-aux-info",
		"-MJ", "-serialize-diagnostics", "--serialize-diagnostics", "-fdiagnostics-format", "-fdiagnostics-add-output", "-fdiagnostics-set-output",
		"-fdump-", "-fopt-info", "-fsave-optimization-record", "-fstack-usage", "-fcallgraph-info", "-ftime-trace", "-time",
	} {
		if strings.HasPrefix(option, prefix) {
			return false
		}
	}
	return true
}

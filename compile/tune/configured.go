package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
)

// A configured is a folder of the source tree in which CMake or Meson has configured a build. Its
// files contain the absolute path of the tree, so a copy of the folder would build the tree itself.
type configured struct {
	folder  string   // relative to the tree
	source  string   // relative to the tree
	options []string // of the command that configured it
	meson   bool
}

// configuredFolders finds the folders of the source tree in which CMake or Meson has configured a
// build.
func (t *tuning) configuredFolders() (found []configured, err error) {
	err = walk(t.Tree, t.ours(), func(path, rel string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		var c configured
		var ok bool
		switch {
		case d.Name() == "CMakeCache.txt":
			c, ok = t.ofCMake(path)
		case d.Name() == "cmd_line.txt" && filepath.Base(filepath.Dir(path)) == "meson-private":
			c, ok = t.ofMeson(path)
		}
		if ok {
			found = append(found, c)
		}
		return nil
	})
	return found, err
}

// folderOf returns a [configured] for the absolute paths of a build folder and its source folder.
// ok is false unless both are in the source tree.
func (t *tuning) folderOf(folder, source string) (c configured, ok bool) {
	var errs [2]error
	c.folder, errs[0] = filepath.Rel(t.Tree, folder)
	c.source, errs[1] = filepath.Rel(t.Tree, source)
	return c, errs[0] == nil && errs[1] == nil && filepath.IsLocal(c.source) && filepath.IsLocal(c.folder)
}

// ofCMake reads the folder and options of a build from its CMakeCache.txt, in which an entry is
// NAME:TYPE=VALUE.
func (t *tuning) ofCMake(path string) (configured, bool) {
	data, err := files.ReadFile(path, maxOwn)
	if err != nil {
		return configured{}, false
	}
	source, generator := "", ""
	var options []string
	for line := range bytes.Lines(data) {
		name, rest, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		kind, value, ok := strings.Cut(rest, "=")
		switch {
		case !ok || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "//"):
		case name == "CMAKE_HOME_DIRECTORY":
			source = value
		case name == "CMAKE_GENERATOR":
			generator = value
		case kind == "INTERNAL" || kind == "STATIC" || value == "" || strings.HasSuffix(value, "-NOTFOUND") || strings.HasSuffix(name, "_LAUNCHER"):
		case strings.HasPrefix(name, "CMAKE_") && strings.HasSuffix(name, "_COMPILER"):
			if t.compilers[filepath.Base(value)] != "" {
				value = filepath.Base(value) // which is a script in PATH
			}
			options = append(options, "-D"+name+"="+value)
		default:
			options = append(options, "-D"+name+":"+kind+"="+value)
		}
	}
	c, ok := t.folderOf(filepath.Dir(path), source)
	if c.options = options; generator != "" {
		c.options = append([]string{"-G", generator}, options...)
	}
	return c, ok && source != ""
}

// ofMeson reads the folder and options of a build from Meson's cmd_line.txt, which has the options
// of the command line.
func (t *tuning) ofMeson(path string) (configured, bool) {
	folder := filepath.Dir(filepath.Dir(path))
	data, err := files.ReadFile(path, maxOwn)
	if err != nil {
		return configured{}, false
	}
	source, err := mesonSource(folder)
	if err != nil {
		return configured{}, false
	}
	c, ok := t.folderOf(folder, source)
	c.meson = true
	section := ""
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			section = text
			continue
		}
		if name, value, found := strings.Cut(text, "="); found && section == "[options]" {
			c.options = append(c.options, "-D"+strings.TrimSpace(name)+"="+strings.TrimSpace(value))
		}
	}
	return c, ok
}

// mesonSource returns the absolute path of the source folder that belongs to a build folder of
// Meson. Meson has written it to the file meson-info.json.
func mesonSource(folder string) (string, error) {
	var info struct{ Directories struct{ Source string } }
	data, err := files.ReadFile(filepath.Join(folder, "meson-info", "meson-info.json"), maxOwn)
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(data, &info)
	return info.Directories.Source, err
}

// configureAgain removes the configured build folders from a copy of the tree, and configures them
// there with the same options.
func (t *tuning) configureAgain(ctx context.Context, copied string, env []string) error {
	found, err := t.configuredFolders()
	if err != nil {
		return err
	}
	for _, c := range found {
		build, source := filepath.Join(copied, c.folder), filepath.Join(copied, c.source)
		argv := []string{"cmake", "-S", source, "-B", build}
		leftovers := []string{"CMakeCache.txt", "CMakeFiles"}
		if c.meson {
			argv = []string{"meson", "setup", build, source}
		}
		if c.folder != c.source {
			leftovers = []string{""} // all of the folder
		}
		for _, name := range leftovers {
			if err := os.RemoveAll(filepath.Join(build, name)); err != nil {
				return err
			}
		}
		for _, option := range c.options {
			argv = append(argv, t.inCopy(option, copied))
		}
		t.logf("# %s was configured for the tree, so the copy is configured with the same options", c.folder)
		if _, err := t.do(ctx, task{argv: argv, dir: copied, env: env}); err != nil {
			return err
		}
	}
	return nil
}

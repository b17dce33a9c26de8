package inputs

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

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
	folder := filepath.Dir(pathIn(f.Dir, name))
	for line := range bytes.Lines(ReadSource(pathIn(f.Dir, name))) {
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
				files = f.addConfiguration(files, pathIn(folder, inner))
			}
		}
	}
	return files
}

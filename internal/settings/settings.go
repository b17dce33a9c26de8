// Package settings reads the user's configuration file, which gives values to the environment
// variables that afdo reads. A variable that is set in the environment wins.
//
// The file has a line NAME=VALUE for each variable, as env files of other programs have. Lines that
// begin with # are comments.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/lines"
)

// A Setting is an environment variable that afdo reads. Usual is the value that applies if it is
// not set.
type Setting struct{ Name, Meaning, Usual string }

// All lists the environment variables that afdo reads.
var All = []Setting{
	{"AFDO_PROFILE", "the profile of exec, if there is no --profile", ""},
	{"AFDO_CACHE_DIR", "the folder of the cache", "afdo in the user's folder for caches"},
	{"AFDO_CACHE_SIZE", "how much the cache may hold", "1G"},
	{"AFDO_CACHE_DAYS", "for how many days the cache keeps an unused file", "30"},
	{"AFDO_MAX_DOWNLOAD", "--max-download of all verbs", "1G"},
	{"AFDO_TIMEOUT", "--timeout of all verbs", "1m"},
	{"AFDO_MIN_RATE", "--min-rate of all verbs", "1M"},
	{"NO_COLOR", "no colours if it is not empty", ""},
}

// maxFile limits the size of the configuration file in bytes.
const maxFile = 1 << 20

// ErrSetting is matched by errors about a line of the configuration file.
var ErrSetting = errors.New("bad setting")

// Path returns the path of the configuration file: $AFDO_CONFIG, or afdo/config in the user's
// folder for configuration files. It returns "" if the user has none, for example without a home
// folder.
func Path() string {
	path := os.Getenv("AFDO_CONFIG")
	if folder, err := os.UserConfigDir(); path == "" && err == nil {
		path = filepath.Join(folder, "afdo", "config")
	}
	return path
}

// Load sets the variables of the configuration file that are not set in the environment. It returns
// their names. Without a file, it does nothing.
func Load() (loaded []string, err error) {
	path := Path()
	if _, err := os.Stat(path); err != nil && (os.Getenv("AFDO_CONFIG") == "" || errors.Is(err, fs.ErrNotExist)) {
		return nil, nil // such as without a home folder, with HOME=/dev/null, or with the home of another user
	}
	text, err := files.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
			continue
		case !found:
			return nil, fmt.Errorf("%s:%d: %w: want NAME=VALUE, see \"afdo help config\"", path, i+1, ErrSetting)
		case !slices.ContainsFunc(All, func(s Setting) bool { return s.Name == name }):
			return nil, fmt.Errorf("%s:%d: %w: unknown name %s, see \"afdo help config\"", path, i+1, ErrSetting, lines.Excerpt([]byte(name)))
		}
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: %w", path, i+1, ErrSetting, err)
		}
		loaded = append(loaded, name)
	}
	return loaded, nil
}

package release

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	root    = "../.."
	version = "v0.1.0"
)

// A machine is an environment in which nothing of afdo is installed.
type machine struct {
	home string
	env  []string
}

// newMachine returns a machine that can install this clone's last commit: a folder in place of the
// Go module proxy has it as version v0.1.0. Other modules come from the cache of this computer.
func newMachine(t *testing.T) machine {
	t.Helper()
	if os.Getenv("AFDO_SNAPSHOT") == "" {
		t.Skip("contrib/release/snapshot.sh runs it")
	}
	m := machine{home: t.TempDir()}
	proxy := filepath.Join(m.home, "proxy")
	publish(t, filepath.Join(proxy, "github.com/go-afdo/afdo/@v"))
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	require.NoError(t, err)
	caches := strings.Fields(string(out))
	gopath := filepath.Join(m.home, "go")
	m.env = append(os.Environ(),
		"HOME="+m.home, "RUNNER_TEMP="+m.home, "GOPATH="+gopath, "GOBIN=", "GOCACHE="+caches[1], "GOFLAGS=-modcacherw", "GOSUMDB=off",
		"GOMODCACHE="+filepath.Join(m.home, "modules"), "GOPROXY=file://"+proxy+",file://"+caches[0]+"/cache/download",
		"PATH="+filepath.Join(gopath, "bin")+":"+os.Getenv("PATH"))
	return m
}

// publish writes the last commit as a module version, in the file layout of a Go module proxy.
func publish(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	clone := filepath.Join(t.TempDir(), "clone")
	said, err := exec.Command("git", "clone", "-q", root, clone).CombinedOutput()
	require.NoError(t, err, "%s", said)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	info, err := json.Marshal(map[string]string{"Version": version})
	require.NoError(t, err)
	for name, data := range map[string][]byte{"list": []byte(version + "\n"), version + ".mod": mod, version + ".info": info} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	out, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(t, err)
	require.NoError(t, zip.CreateFromVCS(out, module.Version{Path: "github.com/go-afdo/afdo", Version: version}, clone, "HEAD", ""))
	require.NoError(t, out.Close())
}

func (m machine) run(t *testing.T, dir, text string, env ...string) string {
	t.Helper()
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", text)
	cmd.Dir, cmd.Env = dir, append(m.env, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", text, out)
	return string(out)
}

// TestInstallPage runs the commands of docs/guide/install.md on a machine where only Go is
// installed.
func TestInstallPage(t *testing.T) {
	m := newMachine(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "install.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		m.run(t, m.home, block[1])
	}
	require.Contains(t, m.run(t, m.home, "afdo version"), "afdo "+version)

	for _, folder := range []string{".local/share/bash-completion/completions", ".config/fish/completions", "zsh"} {
		require.NoError(t, os.MkdirAll(filepath.Join(m.home, folder), 0o700))
	}
	rows := regexp.MustCompile("\\| `(afdo completion [^`]*)`").FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		m.run(t, m.home, row[1], "PROFILE="+filepath.Join(m.home, "profile.ps1"), "fpath="+filepath.Join(m.home, "zsh"))
	}
	require.NoError(t, os.CopyFS(filepath.Join(m.home, "testdata"), os.DirFS(filepath.Join(root, "testdata"))))
	said := m.run(t, m.home, "source .local/share/bash-completion/completions/afdo; complete -p afdo; afdo __complete lookup testdata/shop.compact.afdo --unit ''")
	assert.Contains(t, said, "__start_afdo afdo")
	assert.Contains(t, said, "src/cart.cc")

	m.run(t, m.home, "mkdir FOLDER; afdo man FOLDER; test -s FOLDER/afdo-lookup.1")
}

// TestAction runs the steps of the action, as a job would for a pull request that has changed a
// profile.
func TestAction(t *testing.T) {
	m := newMachine(t)
	var action struct {
		Outputs map[string]struct{ Value string }
		Runs    struct {
			Steps []struct {
				ID, Run, If string
				Env         map[string]string
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "contrib", "action", "action.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &action))

	profile := func(name string) string {
		path, err := filepath.Abs(filepath.Join(root, "testdata", name))
		require.NoError(t, err)
		return path
	}
	base := strings.TrimSpace(m.run(t, m.home, fmt.Sprintf(`exec 2>&1
		git init -q repository; cd repository; git config user.name a; git config user.email a@b
		cp %s p.afdo; git add p.afdo; git commit -qm base; git remote add origin .; git rev-parse HEAD
		cp %s p.afdo; git commit -qam head`, profile("shop.afdo"), profile("corrupt/sound.afdo"))))
	m.run(t, m.home, `mkdir -p go/bin; printf '#!/bin/sh\necho "$@" > "$HOME/gh"\n' > go/bin/gh; chmod +x go/bin/gh`)
	folder, err := filepath.Abs(filepath.Join(root, "contrib", "action"))
	require.NoError(t, err)

	// The values of the expressions that steps may use. Another expression fails the test.
	values := map[string]string{
		"inputs.profile": "p.afdo", "inputs.base": "", "inputs.version": "latest", "inputs.token": "token",
		"github.event.pull_request.base.sha": base, "github.event.pull_request.number": "7",
	}
	expression := regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
	for i, step := range action.Runs.Steps {
		if step.Run == "" {
			continue
		}
		out := filepath.Join(m.home, fmt.Sprint("output", i))
		env := []string{"GITHUB_OUTPUT=" + out, "GITHUB_STEP_SUMMARY=" + filepath.Join(m.home, "summary"), "GITHUB_ACTION_PATH=" + folder}
		for key, value := range step.Env {
			env = append(env, key+"="+expression.ReplaceAllStringFunc(value, func(of string) string {
				name := expression.FindStringSubmatch(of)[1]
				require.Contains(t, values, name, "of %s", key)
				return values[name]
			}))
		}
		m.run(t, filepath.Join(m.home, "repository"), step.Run, env...)
		written, _ := os.ReadFile(out) // most write nothing
		for line := range strings.Lines(string(written)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			values["steps."+step.ID+".outputs."+name] = value
		}
	}
	differs := expression.FindStringSubmatch(action.Outputs["differs"].Value)[1]
	require.Equal(t, "true", values[differs])
	asked, err := os.ReadFile(filepath.Join(m.home, "gh"))
	require.NoError(t, err)
	require.Contains(t, string(asked), "pr comment 7 ")
	summary, err := os.ReadFile(filepath.Join(m.home, "summary"))
	require.NoError(t, err)
	require.Contains(t, string(summary), "### AutoFDO profile `p.afdo`")
}

// TestArchives checks the contents of the archives, and the SBOM of each.
func TestArchives(t *testing.T) {
	m := newMachine(t)
	snapshot := os.Getenv("AFDO_SNAPSHOT")
	for pattern, files := range map[string][]string{
		"afdo_*_linux_*.tar.gz":             {"afdo", "afdo-exec", "afdo-fetch", "LICENSE", "README.md", "CHANGELOG.md", "man/afdo-lookup.1", "man/afdo-fetch.1", "completion/afdo.bash"},
		"afdo_*_darwin_*.tar.gz":            {"afdo", "afdo-exec", "afdo-fetch", "man/afdo-lookup.1", "completion/afdo.zsh"},
		"afdo-fetch-blob_*_linux_*.tar.gz":  {"afdo-fetch-blob", "LICENSE"},
		"afdo-fetch-blob_*_darwin_*.tar.gz": {"afdo-fetch-blob", "LICENSE"},
	} {
		archives, err := filepath.Glob(filepath.Join(snapshot, pattern))
		require.NoError(t, err)
		require.Len(t, archives, 2, pattern)
		for _, archive := range archives {
			list := strings.Fields(m.run(t, m.home, "tar -tzf "+archive))
			assert.Subset(t, list, files, archive)
		}
	}
	for pattern, programs := range map[string][]string{
		"afdo_*_amd64.tar.gz.cdx.json":             {"afdo", "afdo-exec", "afdo-fetch"},
		"afdo_*_windows_*.zip.cdx.json":            {"afdo.exe", "afdo-exec.exe", "afdo-fetch.exe"},
		"afdo-fetch-blob_*_windows_*.zip.cdx.json": {"afdo-fetch-blob.exe"},
	} {
		bills, err := filepath.Glob(filepath.Join(snapshot, pattern))
		require.NoError(t, err)
		require.Len(t, bills, 2, pattern)
		for _, bill := range bills {
			text, err := os.ReadFile(bill)
			require.NoError(t, err)
			for _, program := range programs {
				assert.Contains(t, string(text), fmt.Sprintf(`"name": %q`, program), bill)
			}
		}
	}
}

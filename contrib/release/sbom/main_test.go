package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type file struct {
	name string
	data []byte
}

func tarred(t *testing.T, files ...file) []byte {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, f := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o755}))
		_, err := w.Write(f.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, packed.Close())
	return out.Bytes()
}

func zipped(t *testing.T, files ...file) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		entry, err := w.Create(f.name)
		require.NoError(t, err)
		_, err = entry.Write(f.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// bill runs the command on an archive, and returns the SBOM that it writes.
func bill(t *testing.T, name string, archive []byte) ([]byte, error) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, name), filepath.Join(dir, "bill.json")
	require.NoError(t, os.WriteFile(in, archive, 0o600))
	if err := run([]string{in, out}); err != nil {
		assert.NoFileExists(t, out)
		return nil, err
	}
	written, err := os.ReadFile(out)
	require.NoError(t, err)
	return written, nil
}

// valid checks an SBOM against the JSON schema of CycloneDX.
func valid(t *testing.T, written []byte) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	for name, stored := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "schema", stored))
		require.NoError(t, err)
		defer text.Close()
		schema, err := jsonschema.UnmarshalJSON(text)
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource("http://cyclonedx.org/schema/"+name, schema))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(written))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value))
}

// TestRun makes SBOMs of archives that contain the test binary, and compares them with its build
// information.
func TestRun(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	require.NotEmpty(t, info.Deps)
	files := []file{{"README.md", []byte("no program\n")}, {"in/it", data}}
	for name, archive := range map[string][]byte{"a.tar.gz": tarred(t, files...), "a.zip": zipped(t, files...)} {
		t.Run(name, func(t *testing.T) {
			written, err := bill(t, name, archive)
			require.NoError(t, err)
			valid(t, written)
			again, err := bill(t, name, archive)
			require.NoError(t, err)
			require.Equal(t, written, again)

			var bom cyclonedx.BOM
			require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(written), cyclonedx.BOMFileFormatJSON).Decode(&bom))
			sum := sha256.Sum256(archive)
			require.Equal(t, hex.EncodeToString(sum[:]), (*bom.Metadata.Component.Hashes)[0].Value)
			versions := make(map[string]string)
			for _, c := range *bom.Components {
				versions[c.Name] = c.Version
			}
			require.Contains(t, versions, "it")
			require.NotContains(t, versions, "README.md")
			require.Equal(t, strings.TrimPrefix(info.GoVersion, "go"), versions["std"])
			for _, module := range info.Deps {
				require.Equal(t, module.Version, versions[module.Path])
			}
			require.Len(t, versions, len(info.Deps)+2)
		})
	}
}

// TestReplaced checks the entries for modules that a replace directive of go.mod replaces.
func TestReplaced(t *testing.T) {
	of := func(by *debug.Module) cyclonedx.Component {
		return libraryOf(&debug.Module{Path: "example.org/a", Version: "v0.0.0", Replace: by}, "v1.2.3+dirty")
	}
	near := of(&debug.Module{Path: "../.."})
	require.Equal(t, "pkg:golang/example.org/a@v1.2.3%2Bdirty", near.PackageURL)
	require.Equal(t, "v1.2.3+dirty", near.Version)
	other := of(&debug.Module{Path: "example.org/b", Version: "v2.0.0", Sum: "h1:x"})
	require.Equal(t, "pkg:golang/example.org/b@v2.0.0", other.PackageURL)
	require.Equal(t, []cyclonedx.Property{{Name: "go:sum", Value: "h1:x"}}, *other.Properties)
}

func TestRefused(t *testing.T) {
	whole := tarred(t, file{"a", []byte("no program")})
	for _, c := range []struct {
		name    string
		archive []byte
		says    string
	}{
		{"a.tar.gz", whole, "there is no Go program in it"},
		{"a.tar.gz", whole[:len(whole)-9], "unexpected EOF"},
		{"a.tar.gz", []byte("text"), "EOF"},
		{"a.zip", whole, "zip: not a valid zip file"},
		{"a.deb", whole, "the name ends in neither .tar.gz nor .zip"},
	} {
		_, err := bill(t, c.name, c.archive)
		require.ErrorContains(t, err, c.name)
		require.ErrorContains(t, err, c.says)
	}
	require.EqualError(t, run(nil), "usage: sbom ARCHIVE OUT")
	require.ErrorIs(t, run([]string{filepath.Join(t.TempDir(), "a.zip"), "b"}), os.ErrNotExist)
	require.ErrorIs(t, eachOfTar(bytes.NewReader(tarred(t, file{"a", nil})), func(string, io.Reader) error { return io.ErrClosedPipe }), io.ErrClosedPipe)
}

// Command sbom writes what the programs of an archive are made of, as CycloneDX JSON: the modules
// that the Go command has written into each program, with their versions and sums.
//
// The same archive gives the same bytes: the time is that of the commit.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: sbom ARCHIVE OUT")
	}
	programs, err := readArchive(args[0])
	if err != nil {
		return err
	}
	sum, err := sumOf(args[0])
	if err != nil {
		return err
	}
	return write(describe(filepath.Base(args[0]), sum, programs), args[1])
}

func write(bom *cyclonedx.BOM, name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON)
	return errors.Join(encoder.SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6), out.Close())
}

// describe returns the SBOM of an archive: its programs, and the modules that each program consists
// of.
func describe(archive string, sum [sha256.Size]byte, programs []program) *cyclonedx.BOM {
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, sum[:]).URN()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: setting(programs[0].info, "vcs.time"),
		Component: &cyclonedx.Component{
			BOMRef:  archive,
			Type:    cyclonedx.ComponentTypeFile,
			Name:    archive,
			Version: programs[0].info.Main.Version,
			Hashes:  hashes(sum),
		},
	}
	components := make(map[string]cyclonedx.Component)
	var dependencies []cyclonedx.Dependency
	var names []string
	for _, p := range programs {
		of := cyclonedx.Dependency{Ref: p.name, Dependencies: new([]string)}
		for _, module := range modules(p.info) {
			components[module.BOMRef] = module
			*of.Dependencies = append(*of.Dependencies, module.BOMRef)
		}
		components[p.name] = application(p)
		dependencies = append(dependencies, of)
		names = append(names, p.name)
	}
	dependencies = append(dependencies, cyclonedx.Dependency{Ref: archive, Dependencies: &names})
	sorted := make([]cyclonedx.Component, 0, len(components))
	for _, ref := range slices.Sorted(maps.Keys(components)) {
		sorted = append(sorted, components[ref])
	}
	bom.Components, bom.Dependencies = &sorted, &dependencies
	return bom
}

func application(p program) cyclonedx.Component {
	properties := []cyclonedx.Property{{Name: "go:package", Value: p.info.Path}}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision"} {
		if value := setting(p.info, key); value != "" {
			properties = append(properties, cyclonedx.Property{Name: "go:" + key, Value: value})
		}
	}
	return cyclonedx.Component{
		BOMRef:     p.name,
		Type:       cyclonedx.ComponentTypeApplication,
		Name:       p.name,
		Version:    p.info.Main.Version,
		Hashes:     hashes(p.sum),
		PackageURL: packageURL(p.info.Main.Path, p.info.Main.Version),
		Properties: &properties,
	}
}

// modules returns the components of a program: the standard library and the modules in its build
// information.
func modules(info *debug.BuildInfo) []cyclonedx.Component {
	version := strings.TrimPrefix(info.GoVersion, "go")
	version, _, _ = strings.Cut(version, " ") // what follows are experiments
	all := []cyclonedx.Component{library("std", version, "")}
	for _, module := range info.Deps {
		all = append(all, libraryOf(module, info.Main.Version))
	}
	return all
}

// libraryOf describes a module as a component of the SBOM. A module that was replaced by a folder
// of the same clone gets the version of the program, ofProgram.
func libraryOf(module *debug.Module, ofProgram string) cyclonedx.Component {
	switch by := module.Replace; {
	case by == nil:
		return library(module.Path, module.Version, module.Sum)
	case strings.HasPrefix(by.Path, "."):
		return library(module.Path, ofProgram, "")
	default:
		return library(by.Path, by.Version, by.Sum)
	}
}

// library describes a module as a component of the SBOM. sum is the module's hash in go.sum, which
// is not the hash of a file.
func library(name, version, sum string) cyclonedx.Component {
	url := packageURL(name, version)
	c := cyclonedx.Component{
		BOMRef:     url,
		Type:       cyclonedx.ComponentTypeLibrary,
		Name:       name,
		Version:    version,
		Scope:      cyclonedx.ScopeRequired,
		PackageURL: url,
	}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}

func packageURL(name, version string) string {
	url := "pkg:golang/" + name
	if version == "" {
		return url
	}
	return url + "@" + strings.ReplaceAll(version, "+", "%2B")
}

func hashes(sum [sha256.Size]byte) *[]cyclonedx.Hash {
	return &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// A program is a file of an archive that the Go command has built.
type program struct {
	name string
	sum  [sha256.Size]byte
	info *buildinfo.BuildInfo
}

// readArchive returns the programs in a .tar.gz or .zip file, in the order of the file.
func readArchive(name string) ([]program, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var programs []program
	take := func(name string, r io.Reader) error {
		p, ok, err := readProgram(name, r)
		if ok {
			programs = append(programs, p)
		}
		return err
	}
	switch {
	case strings.HasSuffix(name, ".tar.gz"):
		err = eachOfTar(f, take)
	case strings.HasSuffix(name, ".zip"):
		err = eachOfZip(f, take)
	default:
		err = errors.New("the name ends in neither .tar.gz nor .zip")
	}
	if err == nil && len(programs) == 0 {
		err = errors.New("there is no Go program in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return programs, nil
}

func eachOfTar(f io.Reader, take func(name string, r io.Reader) error) error {
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	files := tar.NewReader(unpacked)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, unpacked) // as far as its checksum
			return err
		}
		if err != nil {
			return err
		}
		if err := take(header.Name, files); err != nil {
			return err
		}
	}
}

func eachOfZip(f *os.File, take func(name string, r io.Reader) error) error {
	state, err := f.Stat()
	if err != nil {
		return err
	}
	files, err := zip.NewReader(f, state.Size())
	if err != nil {
		return err
	}
	for _, file := range files.File {
		r, err := file.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(take(file.Name, r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// readProgram reads the build information of a file in an archive, which the Go command stores in
// each program that it builds. It returns false if the file is not such a program.
func readProgram(name string, r io.Reader) (program, bool, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return program{}, false, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil { // a manual page, say
		return program{}, false, nil
	}
	return program{name: path.Base(name), sum: sha256.Sum256(data), info: info}, true, nil
}

func sumOf(name string) (sum [sha256.Size]byte, err error) {
	data, err := os.ReadFile(name)
	return sha256.Sum256(data), err
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// describe returns the bill of an archive: its programs, and the modules that each is made of.
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

// modules returns what a program is made of: the standard library and the modules.
func modules(info *debug.BuildInfo) []cyclonedx.Component {
	version := strings.TrimPrefix(info.GoVersion, "go")
	version, _, _ = strings.Cut(version, " ") // what follows are experiments
	all := []cyclonedx.Component{library("std", version, "")}
	for _, module := range info.Deps {
		all = append(all, libraryOf(module, info.Main.Version))
	}
	return all
}

// libraryOf describes a module. One that a folder of the same clone stands in for has the version
// of the program.
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

// library describes a module. Its sum is the one of go.sum, which is no sum of a file's bytes.
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

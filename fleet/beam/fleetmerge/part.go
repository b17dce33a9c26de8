package fleetmerge

import (
	"bytes"
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/profile"
)

// encodePart encodes the profile of a unit as a compact version 4 file. The summary is not used.
func encodePart(p *profile.Profile) ([]byte, error) {
	p.Summary = new(afdo.Summary)
	var file bytes.Buffer
	if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

func decodePart(data []byte) (*profile.Profile, error) {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return profile.Read(r)
}

// sumParts merges the parts of a unit. It keeps one part in memory at a time.
func sumParts(parts func(*[]byte) bool) (*profile.Profile, error) {
	sum := profile.New()
	for part := []byte(nil); parts(&part); {
		p, err := decodePart(part)
		if err != nil {
			return nil, fmt.Errorf("part of a unit: %w", err)
		}
		sum.Merge(p)
	}
	return sum, nil
}

// encodeParts encodes the units of a profile, each with its path. For nil it returns none.
func encodeParts(p *profile.Profile) (paths, parts [][]byte, err error) {
	if p == nil {
		return nil, nil, nil
	}
	for f, part := range p.Split() {
		data, err := encodePart(part)
		if err != nil {
			return nil, nil, err
		}
		paths = append(paths, []byte(p.UnitPath(f)))
		parts = append(parts, data)
	}
	return paths, parts, nil
}

package anyprof_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/profile"
)

// Convert a GCOV profile of any version, or its text, to version 4. The format is detected from the
// first bytes.
func ExampleProfile_GCOV() {
	p, err := readGCOV(context.Background(), "../../testdata/shop.v3.afdo")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer // or a file
	if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
		log.Fatal(err)
	}
	r, err := afdo.OpenBytes(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	units, err := r.NumUnits()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(units, "units, compact:", r.Header().Compact)
	// Output: 5 units, compact: true
}

func readGCOV(ctx context.Context, path string) (*profile.Profile, error) {
	p, err := anyprof.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	gcov, err := p.GCOV()
	if errors.Is(err, afdo.ErrMagic) {
		return nil, fmt.Errorf("%s is of format %v, not one of GCC's: %w", path, p.Format(), err)
	}
	return gcov, err
}

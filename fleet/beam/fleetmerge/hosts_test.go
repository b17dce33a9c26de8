package fleetmerge

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

// TestBundleIsSummed checks that the step Read emits one element for each unit of a bundle, and
// that the sum of the next bundle begins empty.
func TestBundleIsSummed(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(fleetOf(t, 20), "*.afdo"))
	if err != nil {
		t.Fatal(err)
	}
	fn := &readFn{Rules: fleet.Rules{}}
	for range 2 {
		emitted := make(map[string]int)
		unit := func(path, _ []byte) { emitted[string(path)]++ }
		bad := func(letter []byte) { t.Errorf("%s", letter) }
		for _, path := range paths {
			var group message
			appendInput(&group, &fleet.Input{Path: path})
			if err := fn.ProcessElement(context.Background(), group, unit, bad); err != nil || len(emitted) > 0 {
				t.Fatal(err, emitted)
			}
		}
		if err := fn.FinishBundle(context.Background(), unit, bad); err != nil || len(emitted) < 20 {
			t.Fatal(err, emitted)
		}
		for path, times := range emitted {
			if times != 1 {
				t.Errorf("unit %q is emitted %d times", path, times)
			}
		}
	}
}

// TestHostsAreLarge sums profiles of hosts that have no symbols in common, until the sum is
// emitted.
func TestHostsAreLarge(t *testing.T) {
	for each, most := range map[int]int{20_000: 4, 40_000: 3, 70_000: 3} {
		var h inputSum
		for n := range most {
			if h.isLarge() {
				t.Errorf("%d hosts of %d symbols are large", n, each)
			}
			host := profile.New()
			for i := range each {
				host.AddSymbol(profile.UnknownUnit, fmt.Sprint(n, "_", i))
			}
			h.add(host, profile.Ratio{Num: 1, Den: 1})
		}
		if !h.isLarge() {
			t.Errorf("%d hosts of %d symbols are not large", most, each)
		}
	}
}

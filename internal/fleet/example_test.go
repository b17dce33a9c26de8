package fleet_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/fleet"
)

// The example merges profiles so that each week of age halves the weight.
func Example() {
	now := time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)
	inputs, err := fleet.ReadList("inputs", strings.NewReader(
		"web1.afdo\thost=web1\tage=0s\n"+
			"web2.afdo=3\thost=web2\tage=7d\n"+
			"old.afdo\thost=web3\ttime=2026-06-01T00:00:00Z\n"), now)
	if err != nil {
		log.Fatal(err)
	}
	rules := fleet.Rules{HalfLife: 7 * 24 * time.Hour, AsOf: now}
	for i := range inputs {
		w, err := rules.Weight(&inputs[i])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(inputs[i].Path, "of", inputs[i].Host, "makes 1000 samples", w.Of(1000))
	}
	// Output:
	// web1.afdo of web1 makes 1000 samples 1000
	// web2.afdo of web2 makes 1000 samples 1500
	// old.afdo of web3 makes 1000 samples 250
}

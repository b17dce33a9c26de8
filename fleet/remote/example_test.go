package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
)

// The example reads one unit of a profile on a server.
func Example() {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer server.Close()

	f, err := remote.Open(context.Background(), server.URL+"/shop.compact.afdo")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	r, err := afdo.NewReader(f, f.Size())
	if err != nil {
		log.Fatal(err)
	}
	unit, err := r.UnitBySuffix("cart.cc")
	if err != nil {
		log.Fatal(err)
	}
	for symbol, err := range unit.Symbols() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(symbol.Name())
	}
	fmt.Println("requests:", f.Stats().Requests)
	// Output:
	// _ZN4shop4Cart3addERKNS_4ItemE
	// _ZN4shop4Cart5clearEv
	// _ZNK4shop4Cart4fullEv
	// _ZNK4shop4Cart5totalERKNS_8DiscountE
	// requests: 1
}

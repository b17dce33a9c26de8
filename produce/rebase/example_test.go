package rebase_test

import (
	"fmt"
	"log"

	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

// In the new sources, a comment was added above a statement. So the statement's count moves one
// line down.
func ExampleProfile() {
	p := profile.New()
	unit := p.AddUnit("twice.c")
	twice := p.AddSymbol(unit, "twice")
	p.AddFunction(twice, profile.Function{HeadCount: 100, Records: []profile.Record{{Line: 1, Count: 100}}})

	var before, after rebase.Sources
	before.AddFile("twice.c", []byte("int twice(int n) {\n\treturn 2 * n;\n}\n"))
	after.AddFile("twice.c", []byte("int twice(int n) {\n\t// Never overflows.\n\treturn 2 * n;\n}\n"))
	moved, _, err := rebase.Profile(p, &before, &after)
	if err != nil {
		log.Fatal(err)
	}
	for symbol, f := range moved.Functions() {
		fmt.Println(moved.SymbolName(symbol), "line", f.Records[0].Line, "count", f.Records[0].Count)
	}
	// Output: twice line 2 count 100
}

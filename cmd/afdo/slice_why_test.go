package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

func TestSliceWhy(t *testing.T) {
	build := func(count uint64, name string) string {
		p := profile.New()
		own, caller := p.AddSymbol(p.AddUnit("a.c"), "own"), p.AddSymbol(p.AddUnit("b.c"), "caller")
		p.AddSymbol(p.AddUnit("b.c"), name)
		p.AddUnit("z/" + name)
		var body profile.Body
		body.Count(1, 0, count)
		p.AddFunction(own, profile.Function{HeadCount: 1, Records: body.Records()})
		body.Reset()
		body.Enter(1, 0, own)
		body.Count(2, 0, count)
		body.Leave()
		p.AddFunction(caller, profile.Function{Records: body.Records()})
		p.Summary = &afdo.Summary{MaxCount: count}
		return writeV4(t, p)
	}
	old, fresh := build(5, "before"), build(6, "after")
	assert.Empty(t, must(t, "slice", "--why", old, old))
	r := afdoRun("slice", "--why", old, fresh)
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Equal(t, strings.TrimLeft(`
changed  inlined in it     caller of b.c
came     last of its name  z/after
went     last of its name  z/before
changed  may be defined    own of a.c
came     name              after of b.c
went     name              before of b.c
changed  summary           summary
`, "\n"), r.out)
	assert.Equal(t, cli.StatusUsage, afdoRun("slice", "--why", old).status)
}

package planned

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/launch/record"
)

// A plan reads back the same, and one that is cut anywhere between its fields is none.
func TestEncode(t *testing.T) {
	p := &Plan{
		Command: []string{"gcc", "", "-c"}, Dir: "/d", Argv: []string{"gcc", "-fauto-profile=a"}, Env: []string{},
		Programs: []string{"gcc", "/bin/gcc"}, Files: []record.File{{Path: "/bin/gcc", State: 1<<64 - 1}, {Path: "p", State: 2}},
		Slice: "/d/a", Stamp: 3, Inputs: "k", Text: 4, Before: "b\t", After: "\ta\n",
	}
	data := string(p.encode())
	assert.Equal(t, p, decode(data))
	for i := range data {
		if data[i] == 0 {
			assert.Nil(t, decode(data[:i]), data[:i])
		}
	}
	assert.Nil(t, decode(data+"\x00x"))
	p.Argv = nil
	assert.Nil(t, decode(string(p.encode())), "nothing to run")
	assert.Nil(t, decode(form+"\x0099999999999"))
}

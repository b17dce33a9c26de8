package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo"
)

func TestMessageSaysWhoSpeaksOnce(t *testing.T) {
	fault := &afdo.FormatError{Format: "afdo", Section: 2, Part: afdo.SectionSymbolInfo.String(), Offset: 9, Err: afdo.ErrCount, Detail: "7"}
	const said = "section 2 (symbol info) at offset 9: bad count: 7"
	assert.Equal(t, said, Message(fault))
	assert.Equal(t, "x: "+said, Message(fmt.Errorf("x: %w", fault)))
	assert.Equal(t, `x: unit "u": `+said, Message(fmt.Errorf("x: %w", fmt.Errorf("profile: unit %q: %w", "u", fault))))
	assert.Equal(t, "an afdo: inside", Message(errors.New("an afdo: inside")))
}

// TestMessageOfAddress checks the message for a URL where a verb reads only files. It is not that
// of a missing file.
func TestMessageOfAddress(t *testing.T) {
	for op, path := range map[string]string{"open": "https://host/p.afdo", "stat": "s3://bucket/p.afdo"} {
		err := fmt.Errorf("reading: %w", &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist})
		assert.Equal(t, "reading: "+path+": URLs are not read here: download the file first", Message(err))
	}
}

// TestMessagesAreEscaped checks that names from files cannot send control characters to the
// terminal through a message.
func TestMessagesAreEscaped(t *testing.T) {
	const name = "a\x1b[31m\u202e\xff\r\u0085é\tb\nc"
	const shown = `a\x1b[31m\u202e\xff\r\u0085é` + "\tb\nc"
	assert.Equal(t, "x "+shown, Message(fmt.Errorf("x %s", name)))
	var out bytes.Buffer
	e := Env{Err: &out}
	e.Warnf("%s", name)
	assert.Equal(t, "afdo: "+shown+"\n", out.String())
}

// TestPackagedVersion checks that a distribution's package can set the version, which the build
// does not record then.
func TestPackagedVersion(t *testing.T) {
	recorded := ProgramVersion()
	assert.NotEmpty(t, recorded)
	t.Cleanup(func() { packaged = "(devel)" })
	packaged = "0.1.0-1"
	assert.Equal(t, "0.1.0-1", ProgramVersion())
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
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

// Names from files cannot control the terminal through any message.
func TestMessagesAreEscaped(t *testing.T) {
	const name = "a\x1b[31m\u202e\xff\r\u0085é\tb\nc"
	const shown = `a\x1b[31m\u202e\xff\r\u0085é` + "\tb\nc"
	assert.Equal(t, "x "+shown, Message(fmt.Errorf("x %s", name)))
	var out bytes.Buffer
	e := Env{Err: &out}
	e.Warnf("%s", name)
	assert.Equal(t, "afdo: "+shown+"\n", out.String())
}

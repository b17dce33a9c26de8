package cli

import (
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

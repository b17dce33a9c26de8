package gcovkind

import (
	"bytes"
	"encoding/binary"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/profile"
)

// WithoutUnits returns a profile as version 2 has it, which knows no units: functions of one name
// are added up.
func WithoutUnits(p *profile.Profile) (*profile.Profile, error) {
	var file bytes.Buffer
	if _, err := gcov.Write(&file, p, gcov.WriteOptions{Version: 2, ByteOrder: binary.LittleEndian}); err != nil {
		return nil, err
	}
	return gcov.ParseBytes(file.Bytes())
}

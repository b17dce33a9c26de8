package afdo_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const refusedList = "spec/conformance/refused.json"

// A refusedFile describes a corrupt file to other implementers of the format, in the list that
// spec/conformance/README.md explains.
type refusedFile struct {
	File string `json:"file"` // from the folder of the list

	// Open, Unit and Read are the classes of the errors of opening the file, finding a unit and
	// reading everything. A class is empty if there is no error.
	Open string `json:"open,omitempty"`
	Unit string `json:"unit,omitempty"`
	Read string `json:"read,omitempty"`

	Faults  []string `json:"faults,omitempty"`  // the classes of all that a full check finds
	Remarks []string `json:"remarks,omitempty"` // those of what is odd, but legal
}

// The list for other implementers agrees with the table corruptFiles. After a change of the table,
// run the test with -update.
func TestRefusedList(t *testing.T) {
	var list []refusedFile
	for _, c := range corruptFiles {
		c.forms(func(path string, _ bool) {
			f := refusedFile{File: "../../" + filepath.ToSlash(path), Open: classText(c.open)}
			if c.open == nil {
				f.Unit, f.Read = classText(c.lookup), classText(c.walk)
			}
			f.Faults, f.Remarks = classTexts(c.faults), classTexts(c.remarks)
			if c.open != nil && len(f.Faults) == 0 {
				f.Faults = []string{f.Open}
			}
			list = append(list, f)
		})
	}
	want, err := json.MarshalIndent(list, "", "  ")
	require.NoError(t, err)
	want = append(want, '\n')
	if *update {
		require.NoError(t, os.WriteFile(refusedList, want, 0o666))
	}
	found, err := os.ReadFile(refusedList)
	require.NoError(t, err)
	require.Equal(t, string(want), string(found))
}

func classText(class error) string {
	if class == nil {
		return ""
	}
	return class.Error()
}

func classTexts(classes []error) []string {
	var texts []string
	for _, class := range classes {
		texts = append(texts, classText(class))
	}
	return texts
}

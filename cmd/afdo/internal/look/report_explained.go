package look

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/cmd/afdo/internal/report"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// mostExplained is how many functions a page shows of those that lose most.
const mostExplained = 10

// readExplained reads what "afdo explain --json" has printed, for a page.
func readExplained(path string) (*report.Explained, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var facts compile.ExplainFacts
	if err := json.Unmarshal(data, &facts); err != nil || facts.Reasons == nil {
		return nil, fmt.Errorf("%s: not the JSON of afdo explain", human.Name(path))
	}
	shown := &report.Explained{Counts: facts.Counts, Share: facts.FoundShare}
	for _, r := range explain.Reasons {
		if n := facts.Reasons[r]; n > 0 {
			shown.Reasons = append(shown.Reasons, report.ReasonCounts{Reason: string(r), Counts: n})
		}
	}
	for _, f := range facts.Functions {
		if f.Reason == explain.Found || len(shown.Functions) == mostExplained {
			continue
		}
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		shown.Functions = append(shown.Functions, report.ExplainedFunction{
			Name: f.Demangled, Reason: string(f.Reason), At: at, Counts: f.Counts, Found: f.Found,
		})
	}
	return shown, nil
}

package kind

import (
	"strconv"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// SummaryFacts is the JSON form of the summary of a sample profile, as show prints it.
type SummaryFacts struct {
	TotalCount       uint64       `json:"total_count"`
	MaxCount         uint64       `json:"max_count"`
	MaxFunctionCount uint64       `json:"max_fn_count"`
	NumCounts        uint64       `json:"num_counts"`
	NumFunctions     uint64       `json:"num_functions"`
	Entries          []EntryFacts `json:"detailed_entries"`
}

// EntryFacts is an entry of the summary: how many of the largest counts add up to a share of the
// total.
type EntryFacts struct {
	Cutoff    uint64 `json:"cutoff"` // the share in parts per million
	MinCount  uint64 `json:"min_count"`
	NumCounts uint64 `json:"num_counts"`
}

// NewSummaryFacts converts a summary to its JSON form.
func NewSummaryFacts(s *afdo.Summary) SummaryFacts {
	f := SummaryFacts{
		TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFunctionCount: s.MaxFunctionCount,
		NumCounts: s.NumCounts, NumFunctions: s.NumFunctions, Entries: []EntryFacts{},
	}
	for _, e := range s.Entries {
		f.Entries = append(f.Entries, EntryFacts{uint64(e.Cutoff), e.MinCount, e.NumCounts})
	}
	return f
}

// Table returns a table with one row for each figure of the summary.
func (s *SummaryFacts) Table() *table.Table {
	t := &table.Table{Columns: "lr"}
	t.Row("Total count", human.Number(s.TotalCount))
	t.Row("Largest count", human.Number(s.MaxCount))
	t.Row("Largest head count", human.Number(s.MaxFunctionCount))
	t.Row("Counts", human.Number(s.NumCounts))
	t.Row("Functions", human.Number(s.NumFunctions))
	return t
}

// EntryTable returns a table with one row for each entry of the summary.
func EntryTable(entries []EntryFacts) *table.Table {
	t := &table.Table{Columns: "rrr"}
	for i, e := range entries {
		if i == 0 {
			t.Row("Share of total", "Least count", "Counts")
		}
		share := strconv.FormatFloat(float64(e.Cutoff)/1e4, 'f', -1, 64) + "%"
		t.Row(share, human.Number(e.MinCount), human.Number(e.NumCounts))
	}
	return t
}

package gen

import "github.com/go-afdo/afdo/internal/testkit/naive"

// RFCExample returns the profile of RFC 5.3 as a file. In the RFC, a symbol of another file has an
// ID between two IDs of test.c, which the binary form cannot store (format note 20). So the IDs
// here are bubble_sort 0, sort_array 1, printf 2. The units are test.c, stdio2.h, and the unit of
// unknown files without symbols.
func RFCExample(compact bool) []byte {
	return Encode(rfcExample(), compact)
}

func rfcExample() *naive.File {
	f := &naive.File{Summary: naive.Summary{TotalCount: 2194467, MaxCount: 659399, NumCounts: 23, NumFunctions: 2}}
	for _, e := range [][3]uint32{
		{10000, 659399, 2}, {100000, 659399, 2}, {200000, 659399, 2}, {300000, 659399, 2},
		{400000, 659399, 2}, {500000, 659399, 2}, {600000, 659399, 2}, {700000, 218844, 6},
		{800000, 218844, 6}, {900000, 218844, 6}, {950000, 218844, 6}, {990000, 218844, 6},
		{999000, 218844, 6}, {999900, 31, 9}, {999990, 23, 16}, {999999, 23, 16},
	} {
		f.Summary.Entries = append(f.Summary.Entries, naive.Entry{
			Cutoff: e[0], MinCount: uint64(e[1]), NumCounts: uint64(e[2]),
		})
	}
	f.Units = []naive.Unit{
		{Path: "/home/user/test.c", Start: 0, End: 2, Symbols: []naive.Symbol{
			{ID: 0, Name: "bubble_sort", HasInfo: true, Locations: []naive.Location{
				Count(0, 0, 0), Count(1, 0, 0), Count(2, 0, 34), Count(3, 0, 31),
				Count(4, 1, 659399), Count(4, 2, 659399), Count(5, 0, 23), Count(6, 0, 218844),
				Count(7, 0, 218844), Count(8, 0, 218844), Count(9, 0, 218844), Count(13, 0, 31),
			}},
			{ID: 1, Name: "sort_array", HasInfo: true, Locations: []naive.Location{
				Count(0, 0, 0),
				Inlined(1, 0, 2, Count(0, 0, 0), Count(2, 0, 0)),
				Count(2, 0, 0), Count(3, 0, 0), Count(3, 1, 29), Count(3, 3, 29),
				Count(4, 0, 29), Count(4, 1, 29), Count(6, 0, 29), Count(7, 0, 29),
			}},
		}},
		{Path: "/usr/include/bits/stdio2.h", Start: 2, End: 3, Symbols: []naive.Symbol{
			{ID: 2, Name: "printf"},
		}},
		{Start: 3, End: 3},
	}
	return f
}

package main

import "github.com/go-afdo/afdo/internal/cli/human"

// counted returns a number of things: 1 sample, 2 samples.
func counted[T ~int | ~uint64](n T, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return human.Number(n) + " " + thing
}

// share is 0 to 1, as all shares are in JSON.
func share(part, total uint64) float64 {
	if total == 0 {
		return 0
	}
	return float64(part) / float64(total)
}

// percentage returns which part of a total something is.
func percentage(part, total uint64) string { return human.Percent(share(part, total)) }

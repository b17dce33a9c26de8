package human

// Counted returns a number of things: 1 sample, 2 samples.
func Counted[T ~int | ~uint64](n T, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(n) + " " + thing
}

// Share is 0 to 1, as all shares are in JSON.
func Share(part, total uint64) float64 {
	if total == 0 {
		return 0
	}
	return float64(part) / float64(total)
}

// Percentage returns which part of a total something is.
func Percentage(part, total uint64) string { return Percent(Share(part, total)) }

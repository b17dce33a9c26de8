// Package human formats numbers, names and paths for people who read them on a terminal.
package human

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/fetch"
)

// Number returns a number with a comma before every third digit.
func Number[T ~int | ~int64 | ~uint32 | ~uint64](n T) string {
	digits := strconv.FormatUint(uint64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Percent returns a share, from 0 to 1, as a percentage.
func Percent(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// Overlap formats the overlap of two profiles, a number from 0 to 1. It rounds the number, but so
// that only 0 looks like 0 and only 1 like 1.
func Overlap(x float64) string {
	const least = 1e-6
	if x > 0 && x < 1 {
		x = min(max(x, least), 1-least)
	}
	return fmt.Sprintf("%.6f", x)
}

// Text escapes what would make a terminal do more than show text: control characters, invalid
// UTF-8, and characters that are not printable, such as marks of text direction. Line feeds and
// tabs stay.
func Text(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isActive) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isActive(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isActive reports whether a character makes a terminal do more than show it, so that Text escapes
// it.
func isActive(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }

// Name returns a name or path for a message. It quotes the name if it contains anything that would
// make a terminal do more than show it, and removes the secrets from a URL.
func Name(name string) string {
	name = fetch.Shown(name)
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Shorten shortens text to the given number of columns, at least 3, by replacing its middle with
// "…". Long names often have the same beginning, and differ at their ends.
func Shorten(text string, columns int) string {
	runes := []rune(text)
	if len(runes) <= columns {
		return text
	}
	head := (columns - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(columns-1-head):])
}

// Wrap returns text in lines of at most the given number of columns. The first line begins with
// first, and further lines are indented by indent blanks.
func Wrap(first string, indent int, text string, columns int) string {
	var b strings.Builder
	b.WriteString(first)
	used, begun := utf8.RuneCountInString(first), false
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case begun && used+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		case begun:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used, begun = used+n, true
	}
	b.WriteByte('\n')
	return b.String()
}

// ShortenPath shortens a path to the given number of columns by replacing its first folders with
// "…". It returns "" if the last element alone is too long.
func ShortenPath(path string, columns int) string {
	if utf8.RuneCountInString(path) <= columns {
		return path
	}
	for {
		_, rest, found := strings.Cut(path, "/")
		if !found {
			return ""
		}
		if path = rest; utf8.RuneCountInString("…/"+path) <= columns {
			return "…/" + path
		}
	}
}

// UnknownUnit is shown in place of the empty path of the unit for functions whose source file is
// unknown.
const UnknownUnit = "(unknown)"

// Unit returns the path of a unit for a message, formatted by [Name], or [UnknownUnit] if it is
// empty.
func Unit(path string) string {
	if path == "" {
		return UnknownUnit
	}
	return Name(path)
}

// Counted returns a number with its noun, which gets an s unless the number is 1: 1 sample, 2
// samples.
func Counted[T ~int | ~uint64](n T, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(n) + " " + thing
}

// Share returns part/total, or 0 if total is 0.
func Share(part, total uint64) float64 {
	if total == 0 {
		return 0
	}
	return float64(part) / float64(total)
}

// Percentage returns part/total as a percentage.
func Percentage(part, total uint64) string { return Percent(Share(part, total)) }

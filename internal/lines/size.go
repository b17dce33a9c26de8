package lines

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize parses a size in bytes as users write it, such as 512, 64K or 2g. K, M and G multiply
// the number by 2^10, 2^20 and 2^30.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "KMGkmg")
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}
	unit, ok := shift[strings.ToUpper(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > 1<<62>>unit {
		return 0, fmt.Errorf("%q: want a number, optionally followed by K, M or G", text)
	}
	return n << unit, nil
}

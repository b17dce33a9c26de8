package remote

import (
	"net/http"
	"time"
)

// An Option changes how a file is read.
type Option func(*options)

type options struct {
	client  *http.Client
	head    int64
	tail    int64
	block   int64
	blocks  int
	tries   int
	wait    time.Duration
	timeout time.Duration
}

// defaults are the options where nothing else is said, changed by those that are given.
func defaults(given []Option) options {
	o := options{client: http.DefaultClient, tail: 128 << 10, tries: 4, wait: 100 * time.Millisecond, timeout: time.Minute}
	for _, set := range given {
		if set != nil {
			set(&o)
		}
	}
	return o
}

// Client sets what makes the requests, http.DefaultClient by default. Its transport may sign
// them, and limits how many connections there are.
func Client(c *http.Client) Option { return func(o *options) { o.client = c } }

// Tail sets how many bytes of the end of the file opening fetches, 128 KiB by default. They stay in
// memory, and reading them costs no request. A file of version 4 that this project writes has its
// list of units there, or its index.
func Tail(bytes int) Option { return func(o *options) { o.tail = int64(max(bytes, 1)) } }

// Head has opening fetch that many bytes of the beginning, too, in a request at the same time as
// that for the end. They stay in memory. Whoever looks at how a file begins then waits once less.
func Head(bytes int) Option { return func(o *options) { o.head = int64(max(bytes, 0)) } }

// Cache keeps the blocks that were read last: at most that many blocks, of blockSize bytes each.
// Reads are rounded to whole blocks, and each makes one request at most. Without it, only the end
// of the file is kept.
func Cache(blockSize, blocks int) Option {
	return func(o *options) { o.block, o.blocks = int64(max(blockSize, 1)), max(blocks, 1) }
}

// Retry sets how often a request is made at most, 4 times by default, and how long to wait before
// the second time, 100 ms by default; after that twice as long each time, unless the
// server says how long.
func Retry(tries int, wait time.Duration) Option {
	return func(o *options) { o.tries, o.wait = max(tries, 1), max(wait, 0) }
}

// Timeout sets after what time without a byte a try ends, a minute by default. So does one that
// takes five times as long and a second more for each 16 KiB that were asked for.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

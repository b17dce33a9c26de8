package remote

import (
	"net/http"
	"time"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// An Option is an option of [Open].
type Option func(*source.Options)

// DefaultMaxSize is the largest file in bytes that [Open] accepts by default: 1 GiB. A profile of
// 15,000 source files and 650,000 functions has a tenth of it. A server that claims more is refused
// before any of the file is read.
const DefaultMaxSize = 1 << 30

// DefaultTimeout is how long a server may send nothing by default. All tries of a request share it.
const DefaultTimeout = time.Minute

// DefaultMinRate is how many bytes per second a server has to send by default: 1 MiB.
const DefaultMinRate = 1 << 20

// defaults returns the default options of Open, with the given changes.
func defaults(given []Option) source.Options {
	o := source.Options{
		Client: http.DefaultClient, MaxSize: DefaultMaxSize, Tail: 128 << 10,
		Tries: 4, Wait: 100 * time.Millisecond, Timeout: DefaultTimeout, Rate: DefaultMinRate,
	}
	for _, set := range given {
		if set != nil {
			set(&o)
		}
	}
	return o
}

// Client sets the client that makes the requests, http.DefaultClient by default. Its transport may
// sign requests and limits the number of connections.
func Client(c *http.Client) Option { return func(o *source.Options) { o.Client = c } }

// MaxSize sets the largest file in bytes that is read, [DefaultMaxSize] by default. Opening a
// larger one fails with [ErrTooLarge].
func MaxSize(bytes int64) Option { return func(o *source.Options) { o.MaxSize = max(bytes, 1) } }

// Tail sets how many bytes of the end of the file opening fetches, 128 KiB by default. They stay in
// memory, and reading them makes no request. A version 4 file that this project writes has its list
// of units there, or its index.
func Tail(bytes int) Option { return func(o *source.Options) { o.Tail = int64(max(bytes, 1)) } }

// Cache keeps the most recently used blocks of the file: at most `blocks` blocks of blockSize bytes
// each. Reads are rounded to whole blocks. Each read makes one request for each run of adjacent
// blocks that are not in the cache. Without a cache, only the end of the file is kept.
func Cache(blockSize, blocks int) Option {
	return func(o *source.Options) { o.Block, o.Blocks = int64(max(blockSize, 1)), max(blocks, 1) }
}

// Retry sets how often a request is tried, 4 times by default, and the pause before the second try,
// 100 ms by default. The pause doubles after each try, unless the server names one.
func Retry(tries int, wait time.Duration) Option {
	return func(o *source.Options) { o.Tries, o.Wait = max(tries, 1), max(wait, 0) }
}

// Timeout sets how long a server may send nothing before a read fails, [DefaultTimeout] by default.
// The tries of a request share this time: with 4 tries and a minute, a try ends after 15 seconds
// without a byte. In addition, all requests together may take this time longer than [MinRate]
// allows.
func Timeout(d time.Duration) Option { return func(o *source.Options) { o.Timeout = d } }

// MinRate sets how many bytes per second a server has to send, [DefaultMinRate] by default. All
// requests of a File together may take the timeout, one second for each request, and the time that
// their bytes take at this rate. A request that would take longer ends and is not repeated.
func MinRate(bytesPerSecond int64) Option {
	return func(o *source.Options) { o.Rate = max(bytesPerSecond, 1) }
}

package remote

import (
	"bytes"
	"container/list"
	"sync"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// A cache keeps the most recently used blocks of a file. A block is in the cache as soon as it is
// requested, so that several readers do not request it twice.
type cache struct {
	mu     sync.Mutex
	limit  int
	blocks map[int64]*list.Element // values are *block; keys are block numbers
	order  *list.List              // most recently used first
}

// A block is a part of the file that the cache holds. All blocks have the same size. Several
// readers may wait for a block that was requested.
type block struct {
	number int64
	done   chan struct{} // closed once data or err is set
	data   []byte
	err    error
}

// get returns the blocks with numbers from `from` up to, but not including, `to`. It adds the
// blocks that were not in the cache, and also returns these as missing. The caller has to fetch
// them.
func (c *cache) get(from, to int64) (all, missing []*block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number := from; number < to; number++ {
		e, ok := c.blocks[number]
		if ok {
			c.order.MoveToFront(e)
		} else {
			e = c.order.PushFront(&block{number: number, done: make(chan struct{})})
			c.blocks[number] = e
			missing = append(missing, e.Value.(*block))
		}
		all = append(all, e.Value.(*block))
	}
	for c.order.Len() > c.limit {
		c.drop(c.order.Back())
	}
	return all, missing
}

// drop removes a block from the cache.
func (c *cache) drop(e *list.Element) {
	c.order.Remove(e)
	delete(c.blocks, e.Value.(*block).number)
}

// forget removes blocks that could not be fetched, so that the next read requests them again.
func (c *cache) forget(blocks []*block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		if e, ok := c.blocks[b.number]; ok && e.Value == b {
			c.drop(e)
		}
	}
}

// readBlocks reads the range r of the file into p through the cache. It fetches the blocks of the
// range that are not in the cache.
func (f *File) readBlocks(p []byte, r source.Range) (int, error) {
	from, to := r.Low/f.opts.Block, (r.High-1)/f.opts.Block+1
	all, missing := f.cache.get(from, to)
	if len(missing) > 0 {
		f.fetchBlocks(missing)
	}
	n := 0
	for _, b := range all {
		<-b.done
		if b.err != nil {
			return n, b.err
		}
		n += copy(p[n:], b.data[max(r.Low-b.number*f.opts.Block, 0):])
	}
	return n, nil
}

// fetchBlocks fetches the blocks that are missing in the cache, with one request for each run of
// adjacent blocks. It does not request the bytes at the end of the file, which Open has fetched.
func (f *File) fetchBlocks(missing []*block) {
	var runs sync.WaitGroup
	for from, to := 0, 1; from < len(missing); to++ {
		if to < len(missing) && missing[to].number == missing[to-1].number+1 {
			continue
		}
		run := missing[from:to]
		if from = to; from < len(missing) {
			runs.Go(func() { f.fetchRun(run) })
		} else {
			f.fetchRun(run)
		}
	}
	runs.Wait()
}

// fetchRun fetches adjacent blocks with one request.
func (f *File) fetchRun(run []*block) {
	low := run[0].number * f.opts.Block
	high := min((run[len(run)-1].number+1)*f.opts.Block, f.size)
	data := make([]byte, high-low)
	_, err := f.fill(data, low)
	if err != nil {
		f.cache.forget(run)
	}
	for _, b := range run {
		if b.err = err; err == nil {
			begin := b.number*f.opts.Block - low
			b.data = bytes.Clone(data[begin:min(begin+f.opts.Block, high-low)]) // does not keep the other blocks alive
		}
		close(b.done)
	}
}

package layout

import "github.com/go-afdo/afdo/samples"

func (p *program) estimates(set *samples.Set) error { return p.starts(set) }

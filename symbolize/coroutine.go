package symbolize

import (
	"debug/dwarf"
	"strconv"
	"strings"
)

// GCC makes two functions of the body of a coroutine, one that runs it and one that destroys its
// frame. Debug info has no lines of declaration for them; GCC counts their lines from where the
// coroutine is declared. Their symbols end in the type of their parameter, the frame, and a word:
// _Z7numbersP17_Z7numbersl.Frame.actor, with the length of the type's name before it.

const (
	frameType  = ".Frame"
	actorWord  = ".actor"
	destroyEnd = frameType + ".destroy"
)

// coroutineOf returns the linkage name of the coroutine that a function is made of, and the name of
// what runs its body. They are empty for other functions.
func coroutineOf(symbol string) (coroutine, actor string) {
	symbol = strings.TrimSuffix(symbol, ".cold")
	rest, ok := strings.CutSuffix(symbol, frameType+actorWord)
	if !ok {
		if rest, ok = strings.CutSuffix(symbol, destroyEnd); !ok {
			return "", ""
		}
	}
	for i := 0; i < len(rest); i++ {
		digits := 0
		for i+digits < len(rest) && rest[i+digits] >= '0' && rest[i+digits] <= '9' {
			digits++
		}
		if name := rest[i+digits:]; digits > 0 && rest[i:i+digits] == strconv.Itoa(len(name)+len(frameType)) {
			return name, rest + frameType + actorWord
		}
	}
	return "", ""
}

// declareActors gives the functions of a coroutine's body the place of the coroutine. One may be
// inlined in the other.
func (w *worker) declareActors(i *Instance, target Symbol) error {
	if i == nil {
		return nil
	}
	coroutine, actor := coroutineOf(target.Names[0])
	if coroutine == "" {
		return nil
	}
	for ; i != nil; i = i.Caller {
		f := i.Function
		if !f.isUndeclared() {
			continue
		}
		linked, err := w.linked(w.current)
		if err != nil {
			return err
		}
		if d := linked[coroutine]; d != nil && d.Name == f.Name {
			f.Line, f.File = d.Line, d.File
			if f.LinkageName == "" {
				f.LinkageName = actor
			}
		}
	}
	return nil
}

// linked returns the declared functions of the current unit by their linkage names.
func (w *worker) linked(u *unit) (map[string]*Function, error) {
	if u.linked != nil {
		return u.linked, nil
	}
	var refs []dieRef
	c := w.unitCursor()
	c.Pos = int(u.entries - u.span.off)
	err := c.entries(u, func(off uint64, a *abbrev, _ uint64) {
		if a.tag == dwarf.TagSubprogram && (a.has(slotDeclLine) || a.has(slotSpecification)) {
			refs = append(refs, dieRef{u.data, off})
		}
		c.skipEntry(a, u.encoding)
	})
	if err != nil {
		return nil, err
	}
	found := make(map[string]*Function)
	for _, ref := range refs {
		f, err := w.function(ref, 0)
		if err != nil {
			return nil, err
		}
		if known := found[f.Linkage()]; known == nil || known.Line == 0 {
			found[f.Linkage()] = f
		}
	}
	u.linked = found
	return found, nil
}

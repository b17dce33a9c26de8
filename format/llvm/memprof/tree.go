package memprof

import (
	"iter"
	"slices"
)

// A stackTree stores call stacks as a tree that grows from the root frames, so that stacks share
// their outer frames. A stack is identified by the node of its leaf. Node 0 is the empty stack.
type stackTree struct {
	frames   []Frame
	frameIDs map[Frame]uint32
	nodes    []stackNode
	children map[stackEdge]uint32
}

type stackNode struct {
	parent, frame, depth uint32
}

type stackEdge struct {
	parent, frame uint32
}

func (t *stackTree) init() {
	if t.nodes == nil {
		t.frameIDs = make(map[Frame]uint32)
		t.nodes = make([]stackNode, 1)
		t.children = make(map[stackEdge]uint32)
	}
}

// add returns the node of the call stack with the given frames, the leaf first. It adds the nodes
// that the tree does not have.
func (t *stackTree) add(frames []Frame) uint32 {
	t.init()
	var node uint32
	for _, f := range slices.Backward(frames) {
		id, ok := t.frameIDs[f]
		if !ok {
			id = uint32(len(t.frames))
			t.frames = append(t.frames, f)
			t.frameIDs[f] = id
		}
		edge := stackEdge{node, id}
		child, ok := t.children[edge]
		if !ok {
			child = uint32(len(t.nodes))
			t.nodes = append(t.nodes, stackNode{parent: node, frame: id, depth: t.nodes[node].depth + 1})
			t.children[edge] = child
		}
		node = child
	}
	return node
}

// walk iterates over the frames of the call stack that ends in a node, leaf first.
func (t *stackTree) walk(node uint32) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for ; node != 0; node = t.nodes[node].parent {
			if !yield(t.frames[t.nodes[node].frame]) {
				return
			}
		}
	}
}

// preorder iterates over all nodes of the tree except node 0, parents before children.
func (t *stackTree) preorder() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		first := make([]uint32, len(t.nodes)) // first child of each node
		next := make([]uint32, len(t.nodes))  // next sibling of each node
		for i := len(t.nodes) - 1; i > 0; i-- {
			parent := t.nodes[i].parent
			next[i], first[parent] = first[parent], uint32(i)
		}
		if len(t.nodes) == 0 || first[0] == 0 {
			return
		}
		for open := []uint32{first[0]}; len(open) > 0; {
			node := open[len(open)-1]
			open = open[:len(open)-1]
			if !yield(node) {
				return
			}
			if next[node] != 0 {
				open = append(open, next[node])
			}
			if first[node] != 0 {
				open = append(open, first[node])
			}
		}
	}
}

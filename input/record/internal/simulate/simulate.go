// Package simulate is what simulations of different processors share: the copy of a thread's
// memory, and functions of the C library that need not be simulated.
//
// Its subpackages execute code on a copy of a thread's registers and memory. The thread itself does
// not run meanwhile, and nothing of it is changed. So the tracer learns which way a stopped thread
// is about to go, at a fraction of the cost of stepping it.
package simulate

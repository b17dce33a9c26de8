// Package rebase moves the counts of a profile to the lines of sources that were edited since.
//
//	var old, new rebase.Sources
//	old.AddFolder("project-1.0")
//	new.AddFolder("project-1.1")
//	q, report, err := rebase.Profile(p, &old, &new)
//
// A profile counts lines from the declarations of their functions. Rebase finds each function of
// the profile in the old sources and in the new ones: by its name, by its content, or exactly by
// the declarations in a binary's debug info. Then it aligns the function's lines as a diff aligns
// the lines of a file. docs/guide/rebase.md has the rules, and measures how well that works.
//
// Nothing here is safe for concurrent use: [Sources] keep the lines that they look at.
package rebase

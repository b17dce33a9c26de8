// Package rebase moves the counts of a profile to where their lines are in sources that were edited
// since.
//
//	var old, new rebase.Sources
//	old.AddFolder("project-1.0")
//	new.AddFolder("project-1.1")
//	q, report, err := rebase.Profile(p, &old, &new)
//
// A profile's counts stand at lines that are counted from the declarations of their functions. Each
// function of the profile is found in the old sources and in the new ones, by its name, by what it
// contains, or exactly by the declarations of a binary's debug info; then its lines are aligned as
// a diff aligns those of a file. docs/rebase.md has the rules, and how well that works.
//
// Nothing here is safe for concurrent use: [Sources] keep the lines that they look at.
package rebase

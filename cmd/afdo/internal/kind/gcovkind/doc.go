// Package gcovkind implements the verbs for GCOV profiles, versions 2 to 4 and text.
package gcovkind

// Package release holds what makes a release and tries it; see contrib/release/snapshot.sh.
package release

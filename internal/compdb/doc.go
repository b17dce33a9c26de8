// Package compdb reads compilation databases, compile_commands.json, as CMake, Meson and Bear write
// them.
package compdb

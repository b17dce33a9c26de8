# How the scripts here build and profile a version of a program. To be sourced, with $wanted (the names of programs).
# It sets $keep (the folder for what is made), $here (bench/pays), $suffix (of the compiler) and $folders.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../pays" && pwd)
root=$here/../..
suffix=${COMPILER-plain}
keep=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$keep"' EXIT
declare -A folders=([lua]=lua5.4 [zstd]=libzstd [re2]=re2 [fmt]=fmtlib [leveldb]=leveldb [tinyxml2]=tinyxml2 [cjson]=cjson [expat]=expat [lz4]=lz4
	[jansson]=jansson [yamlcpp]=yaml-cpp [libpng]=libpng1.6 [mujs]=mujs [nlohmann]=nlohmann-json3 [httplib]=cpp-httplib
	[md4c]=md4c [jsoncpp]=libjsoncpp [pugixml]=pugixml [cadical]=cadical [cli11]=cli11)

mkdir -p "$keep"
go build -C "$root" -o "$keep/afdo" ./cmd/afdo

# version STATE SOURCES PROGRAM builds and profiles one version.
version() {
	sources=$2 work=$keep/$1 programs=("$3")
	mkdir -p "$work"
	cp "$keep/afdo" "$work/afdo"
	. "$here/programs.sh"
	prepare
	base=$work/$3$suffix
	tree=$(echo "$2/${folders[$3]}"-*)
	[ -e "$base" ] || build "$3" "$suffix" "$base"
	[ -s "$base.train" ] || count "$3" "$base" train "$base.train" >/dev/null
	"$keep/afdo" create --binary "$base" --profile "$base.train" --source "$tree" --source "$here/programs" --map-prefix "$tree=src" --map-prefix "$here=pays" \
		--map-prefix "$work=work" -o "$base.afdo" --to v4c 2>"$base.log" || { cat "$base.log" >&2; return 1; }
}

overlap() { "$keep/afdo" diff --json -n 1 "$1" "$2" 2>/dev/null | sed 's/.*"overlap": {//' | tr ',' '\n' | awk -F': ' '/"'"${3:-locations}"'"/ {printf "%.3f", $2; exit}'; }

#!/usr/bin/env bash
# How much of a recording by steps is bias? Records ten programs as Debian packages them, and compares the profiles with
# the exact profile, which callgrind counts:
#
#	bench/steps/others.sh SOURCES [PROGRAM...]
#
# SOURCES is a folder with these unpacked Debian source packages. gcc -O2 -g compiles them. minimap2 needs libsimde-dev.
# The programs were chosen before they were recorded:
#
#	json-c mxml unrtf   parsers, of JSON, XML and RTF
#	lbzip2 minimap2     programs with threads
#	lame                its time is in a shared library, whose profile is compared
#	jimtcl              an interpreter
#	gnugo clustalw openjpeg2
#
# An input is the same in all runs and takes about a second, so a recording repeats it in a new process each time. These
# variables select what is measured:
#
#	EVENTS        kinds of recordings: values of --overhead, or cpu-clock (5%)
#	RECORDINGS    recordings of each kind (3)
#	SECONDS_EACH  length of a recording (20)
#	PIN           a command before each recording, such as taskset -c 0
#	KEEP          folder for what is made. What is there already is not made again
#
# A row has the similarity and the overlap by functions with the exact profile, the number of samples, the longest stop,
# and the load of the machine after the recording. A summary has the median of each program.
set -euo pipefail
shopt -s inherit_errexit
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sources=$(cd "$1" && pwd)
shift
programs=("$@")
[ $# -gt 0 ] || programs=(json-c mxml lbzip2 minimap2 lame jimtcl unrtf gnugo clustalw openjpeg2)
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
work=$(cd "$work" && pwd)
export CFLAGS='-O2 -g -fcommon' CXXFLAGS='-O2 -g'
go build -C "$root" -o "$work/afdo" ./cmd/afdo

# source_of PROGRAM prints the folder of its sources.
source_of() { printf '%s\n' "$sources/$1"-[0-9]* | head -1; }

# build PROGRAM compiles a program in the working folder.
build() {
	local from
	from=$(source_of "$1")
	case $1 in
	json-c | openjpeg2)
		cmake -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF "$from"
		;;
	mxml | minimap2 | unrtf)
		cp -r "$from/." .
		[ "$1" != unrtf ] || autoreconf -i
		[ "$1" = minimap2 ] || ./configure
		;;
	lame) "$from/configure" --enable-shared --disable-static ;;
	lbzip2) CPPFLAGS='-D_IO_ftrylockfile -D_IO_EOF_SEEN=16 -D_IO_ERR_SEEN=32' "$from/configure" ;; # its gnulib is old
	*) "$from/configure" ;;
	esac
	case $1 in
	mxml) make OPTIM="$CFLAGS" libmxml.a testmxml ;;
	minimap2) make CFLAGS="$CFLAGS" minimap2 ;;
	*) make ;;
	esac
}

# object PROGRAM prints the file whose profile is compared.
object() {
	case $1 in
	json-c) echo apps/json_parse ;;
	mxml) echo testmxml ;;
	lbzip2 | clustalw) find src -name "$1"[2] -o -name "$1" -type f | head -1 ;;
	minimap2) echo minimap2 ;;
	lame) echo libmp3lame/.libs/libmp3lame.so.0.0.0 ;;
	jimtcl) echo jimsh ;;
	gnugo) echo interface/gnugo ;;
	openjpeg2) echo bin/opj_compress ;;
	unrtf) echo src/unrtf ;;
	esac
}

# input PROGRAM writes its inputs into the working folder.
input() {
	case $1 in
	json-c) perl -e 'srand 1; print "["; for (0..60000) { printf "%s{\"id\": %d, \"name\": \"user %x\", \"score\": %.3f, \"tags\": [\"a%d\", true, null], \"at\": {\"x\": %d, \"y\": -%d.5e%d}}", $_ ? ",\n" : "", $_, rand 1e9, rand 100, rand 9, rand 1e6, rand 1e3, rand 9 } print "]\n"' >in.json ;;
	mxml) perl -e 'srand 1; print "<?xml version=\"1.0\"?>\n<list>\n"; for (0..40000) { printf " <item id=\"%d\" kind=\"k%d\"><name>n%x &amp; co</name><text>%s</text></item>\n", $_, rand 9, rand 1e9, join " ", map { sprintf "w%x", rand 1e5 } 0..rand 20 } print "</list>\n"' >in.xml ;;
	lbzip2) perl -e 'srand 1; my @w = map { join "", map { chr 97 + rand 26 } 0..rand 9 } 0..5000; for (0..1500000) { print $w[5000 * rand() ** 3], rand() < .1 ? "\n" : " " }' >in.txt ;;
	minimap2) perl -e 'srand 1; my $g = join "", map { (qw(A C G T))[rand 4] } 1..1000000; open R, ">in.fa"; print R ">r\n$g\n"; open Q, ">reads.fa"; for (1..400) { my $s = substr $g, rand 990000, 5000 + rand 5000; $s =~ s/./rand() < .08 ? (qw(A C G T), "", "AC")[rand 6] : $&/ge; print Q ">q$_\n$s\n" }' ;;
	lame) perl -e 'srand 1; my $n = 44100 * 20; print "RIFF", pack("V", 36 + 4 * $n), "WAVEfmt ", pack("VvvVVvv", 16, 1, 2, 44100, 176400, 4, 16), "data", pack "V", 4 * $n; for my $i (0..$n - 1) { my $a = 8000 * sin($i * .03 + 9 * sin $i / 9000) * (1 + sin $i / 5000); print pack "vv", 65535 & int($a + rand 900), 65535 & int($a / 2 + rand 300) }' >in.wav ;;
	jimtcl) cat >in.tcl <<'TCL'
proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }
proc words n { set d [dict create]; for {set i 0} {$i < $n} {incr i} { dict incr d [string range [expr {$i * 7919 % 5003}] 0 2] }; lsort [dict keys $d] }
proc sieve n { set p {}; for {set i 2} {$i < $n} {incr i} { if {![info exists no($i)]} { lappend p $i; for {set j [expr {$i*$i}]} {$j < $n} {incr j $i} { set no($j) 1 } } }; llength $p }
proc text n { set s ""; for {set i 0} {$i < $n} {incr i} { append s "line $i of text\n" }; set c 0; foreach l [split $s \n] { if {[regexp {(\d+) of} $l all x]} { incr c $x } }; set c }
puts [fib 21]; puts [llength [words 60000]]; puts [sieve 80000]; puts [text 20000]
TCL
		;;
	clustalw) perl -e 'srand 1; my @a = split //, "ACDEFGHIKLMNPQRSTVWY"; my $g = join "", map { $a[rand 20] } 1..350; for (1..36) { my $s = $g; $s =~ s/./rand() < .3 ? (@a, "", "")[rand 22] : $&/ge; print ">s$_\n$s\n" }' >in.fa ;;
	openjpeg2) perl -e 'srand 1; print "P6\n900 700\n255\n"; for my $y (0..699) { for my $x (0..899) { print pack "C3", map { 255 & int(128 + 90 * sin($x / (20 + 9 * $_)) * cos($y / 31) + rand 12) } 0..2 } }' >in.ppm ;;
	unrtf) perl -e 'srand 1; print "{\\rtf1\\ansi{\\fonttbl{\\f0 Times;}{\\f1 Courier;}}{\\colortbl;\\red255\\green0\\blue0;}\n"; for (1..400) { print "{\\pard\\f", $_ % 2, "\\fs", 16 + 2 * int rand 9, " ", join(" ", map { my $w = sprintf "w%x", rand 1e5; rand() < .1 ? "{\\b $w}" : rand() < .05 ? "\\i $w\\i0" : $w } 0..rand 30), "\\par}\n" } print "}\n"' >in.rtf ;;
	esac
}

# run PROGRAM prints the command, one word a line.
run() {
	case $1 in
	json-c) printf '%s\n' apps/json_parse -n in.json ;;
	mxml) printf '%s\n' ./testmxml in.xml ;;
	lbzip2) printf '%s\n' "$(object lbzip2)" -n 3 -k -c in.txt ;;
	minimap2) printf '%s\n' ./minimap2 -t 3 -a in.fa reads.fa ;;
	lame) printf '%s\n' frontend/lame --silent in.wav out.mp3 ;;
	jimtcl) printf '%s\n' ./jimsh in.tcl ;;
	gnugo) printf '%s\n' interface/gnugo --benchmark 6 --seed 1 --level 10 --boardsize 13 ;;
	clustalw) printf '%s\n' "$(object clustalw)" -INFILE=in.fa -OUTFILE=out.aln ;;
	openjpeg2) printf '%s\n' bin/opj_compress -i in.ppm -o out.j2k -r 10 ;;
	unrtf) printf '%s\n' src/unrtf -P "$(source_of unrtf)/outputs/" --html in.rtf ;;
	esac
}

# prepare PROGRAM builds it, makes its inputs and counts exactly.
prepare() {
	local command
	[ ! -e exact.prof ] || return 0
	{
		[ -e built ] || build "$1" && touch built
		input "$1"
		mapfile -t command < <(run "$1")
		time "${command[@]}" >out
		time setarch -R valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file=exact.out "${command[@]}" >out
		"$work/afdo" create --allow-poor --binary "$(object "$1")" --profile exact.out --to v2 -o exact.prof
	} >log 2>&1 || { tail -5 log >&2; return 1; }
}

# record PROGRAM EVENT TO records a program, and writes TO.prof.
record() {
	local command how=(--event steps --overhead "$2")
	[ "$2" != cpu-clock ] || how=(--event cpu-clock)
	mapfile -t command < <(run "$1")
	${PIN-} "$work/afdo" record "${how[@]}" -o "$3.data" -- \
		bash -c 'while [ $SECONDS -lt "$0" ]; do "$@" >out; done' "${SECONDS_EACH:-20}" "${command[@]}" 2>"$3.log"
	cut -d' ' -f1 /proc/loadavg >"$3.load"
	"$work/afdo" create --allow-poor --binary "$(object "$1")" --profile "$3.data" --to v2 -o "$3.prof" 2>"$3.create"
}

# value NAME FILE prints a figure of what afdo diff has printed.
value() { awk -v name="$1" '$1 == name {printf "%.3f", $2; exit}' "$2"; }

# row PROGRAM EVENT NUMBER prints a line of the table.
row() {
	local to=$2.$3
	record "$1" "$2" "$to"
	"$work/afdo" diff exact.prof "$to.prof" >"$to.diff" || true # they differ
	printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$(value Similarity "$to.diff")" "$(value Functions "$to.diff")" \
		"$(awk '/ samples? of / {print $2}' "$to.log")" "$(sed -n 's/.* for \([0-9.]* ms\) at most.*/\1/p' "$to.log")" "$(cat "$to.load")"
}

printf '| program | event | recording | similarity | functions | samples | longest stop | load |\n|---|---|--:|--:|--:|--:|--:|--:|\n'
for program in "${programs[@]}"; do
	mkdir -p "$work/$program"
	cd "$work/$program"
	prepare "$program"
	for event in ${EVENTS-5%}; do
		for number in $(seq "${RECORDINGS:-3}"); do
			[ -s "$event.$number.row" ] || row "$program" "$event" "$number" >"$event.$number.row"
			cat "$event.$number.row"
		done
	done
done

# median COLUMN... prints the medians of columns of all rows of $program and $event.
median() {
	for column; do
		awk -F' *[|] *' -v c="$column" '{gsub(",", "", $c); print $c + 0}' "$event".*.row | sort -g | awk '{v[NR] = $1} END {printf "| %s ", v[int((NR + 1) / 2)]}'
	done
}

printf '\n| program | event | median similarity | functions | samples | longest stop, ms |\n|---|---|--:|--:|--:|--:|\n'
for program in "${programs[@]}"; do
	cd "$work/$program"
	for event in ${EVENTS-5%}; do
		[ "${RECORDINGS:-3}" = 0 ] || printf '| %s | %s %s|\n' "$program" "$event" "$(median 5 6 7 8)"
	done
done

#!/usr/bin/env bash
# Measures what a code layout gains: layout.sh AFDO SOURCES [PROGRAM...]
#
# SOURCES is a folder with the unpacked sources of lua5.4, brotli, yaml-cpp and perl (configured with
# clang-22, -fno-pie and -no-pie, so that "make miniperl" works). Each program is compiled by clang-22
# -O2 and linked by lld, as it is, with a layout by afdo of callgrind's exact counts, and by BOLT if
# llvm-bolt-22 is installed. Printed are, for the input of the training and for another one, the
# jumps that were taken in the program's own code (callgrind), the misses of an instruction cache
# of 32 KB with 8 ways, and the pages of code that were used.
set -euo pipefail
afdo=$(realpath "$1") sources=$(realpath "$2")
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang=${CLANG:-clang-22} bolt=llvm-bolt-22
mkdir "$work/bin"
ln -s "$(command -v ld.lld-22)" "$work/bin/ld.lld" # by the name that GCC looks for
export PATH=$work/bin:$PATH

# compile OUT CFLAGS LDFLAGS: builds the program of the current function "sources_of".
compile() {
	local out=$1 cflags=$2 ldflags=$3 objects=() file object
	mkdir -p "$work/$program.$out"
	for file in "${files[@]}"; do
		object=$work/$program.$out/$(echo "${file#"$folder"/}" | tr / _).o
		objects+=("$object")
		"$compiler" -O2 -fno-pie $flags $cflags -c "$file" -o "$object" 2>"$work/log" || { cat "$work/log" >&2; exit 1; } &
		while [ "$(jobs -r | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	done
	wait
	"$compiler" -no-pie -fuse-ld=lld -Wl,--build-id $ldflags "${objects[@]}" -o "$work/$program.$out/$program" $libraries
}

# perl has a build of its own.
compile_perl() {
	local out=$1 cflags=$2 ldflags=$3
	mkdir -p "$work/$program.$out"
	(cd "$folder" && rm -f -- *.o miniperl && make -j"$(nproc)" miniperl OPTIMIZE="-O2 -fno-pie $cflags" CLDFLAGS="-no-pie -fuse-ld=lld -Wl,--build-id $ldflags" >"$work/log" 2>&1) ||
		{ tail "$work/log" >&2; exit 1; }
	cp "$folder/miniperl" "$work/$program.$out/$program"
}

# taken FILE PROGRAM: jumps taken in the program's own code, and pages with code that ran.
taken() {
	awk -v ours="/$2\$" '
		/^c?ob=/ { own = /^ob=/; sub(/^c?ob=/, ""); id = $1; if (NF > 1) name[id] = $2; if (own) in_ours = name[id] ~ ours }
		/^(jump|jcnd)=/ { split($1, n, /[=\/]/); if (in_ours) jumps += n[2] }
		/^[0-9+*-]/ {
			if ($1 ~ /^0x/) at = hex(substr($1, 3)); else if ($1 ~ /^\+/) at += $1; else if ($1 ~ /^-/) at -= substr($1, 2)
			if (in_ours) pages[int(at / 4096)]
		}
		function hex(s,   i, v) { for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		END { printf "%d %d", jumps, length(pages) }' "$1"
}

# measure LABEL BINARY: a line of the table.
measure() {
	local line="| $program | $1 |" i misses
	for i in train other; do
		valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$work/out" "$2" "${run[@]}" "${input[$i]}" >/dev/null 2>&1
		misses=$(valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null --I1=32768,8,64 "$2" "${run[@]}" "${input[$i]}" 2>&1 >/dev/null | awk '/I1 *misses/ { gsub(",", ""); print $NF }')
		read -r jumps pages <<<"$(taken "$work/out" "$program")"
		line+=" $jumps | $misses | $pages |"
	done
	echo "$line"
}

try() {
	program=$1 flags='' libraries='' build=compile run=()
	declare -gA input=()
	compiler=$clang
	"setup_$program"
	$build plain '' ''
	$build map '-fbasic-block-address-map' ''
	valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$work/recording" "$work/$program.map/$program" "${run[@]}" "${input[train]}" >/dev/null 2>&1
	"$afdo" layout --binary "$work/$program.map/$program" --profile "$work/recording" -o "$work/$program"
	$build laid "-fbasic-block-sections=list=$work/${program}_cc_profile.txt" "-Wl,--symbol-ordering-file=$work/${program}_ld_profile.txt,--no-warn-symbol-ordering"
	measure plain "$work/$program.plain/$program"
	measure layout "$work/$program.laid/$program"
	command -v $bolt >/dev/null || return 0
	$build relocations '' '-Wl,-q'
	valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$work/recording" "$work/$program.relocations/$program" "${run[@]}" "${input[train]}" >/dev/null 2>&1
	"$afdo" create --binary "$work/$program.relocations/$program" --profile "$work/recording" --to fdata -o "$work/fdata"
	mkdir -p "$work/$program.bolt"
	$bolt "$work/$program.relocations/$program" -o "$work/$program.bolt/$program" -data "$work/fdata" \
		-reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -split-eh >"$work/log" 2>&1 || { tail "$work/log" >&2; return 0; }
	measure BOLT "$work/$program.bolt/$program"
}

# try_gcc compares GCC without and with an order of functions, and with BOLT.
try_gcc() {
	program=$1 flags='' libraries='' build=compile run=()
	declare -gA input=()
	"setup_$program"
	compiler=gcc
	$build gcc '-ffunction-sections -fno-reorder-blocks-and-partition' '-Wl,-q'
	valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$work/recording" "$work/$program.gcc/$program" "${run[@]}" "${input[train]}" >/dev/null 2>&1
	measure GCC "$work/$program.gcc/$program"
	"$afdo" layout --order-only --binary "$work/$program.gcc/$program" --profile "$work/recording" -o "$work/$program"
	$build ordered '-ffunction-sections -fno-reorder-blocks-and-partition' "-Wl,--symbol-ordering-file=$work/${program}_ld_profile.txt,--no-warn-symbol-ordering"
	measure 'GCC, order of functions' "$work/$program.ordered/$program"
	"$afdo" create --binary "$work/$program.gcc/$program" --profile "$work/recording" --to fdata -o "$work/fdata"
	mkdir -p "$work/$program.bolt"
	$bolt "$work/$program.gcc/$program" -o "$work/$program.bolt/$program" -data "$work/fdata" \
		-reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -split-eh >"$work/log" 2>&1 || { tail "$work/log" >&2; return 0; }
	measure 'GCC, BOLT' "$work/$program.bolt/$program"
}

setup_lua() {
	folder=$(echo "$sources"/lua5.4*/src)
	mapfile -t files < <(ls "$folder"/l*.c | grep -v /luac.c)
	mkdir -p "$work/inc"
	echo '#define DEB_HOST_MULTIARCH "any"' >"$work/inc/lua5.4-deb-multiarch.h"
	flags="-I$work/inc" libraries=-lm
	cat >"$work/train.lua" <<-'END'
		local t = {}
		for i = 1, 30000 do t[i] = (i * 7919) % 30011 end
		table.sort(t)
		local s = {}
		for i = 1, 4000 do s[#s + 1] = string.format("%d:%s", i, ("x"):rep(i % 9)) end
		local n = 0
		for word in table.concat(s, ","):gmatch("%d+") do n = n + tonumber(word) end
		local function fib(k) return k < 2 and k or fib(k - 1) + fib(k - 2) end
		local co = coroutine.wrap(function() for i = 1, 2000 do coroutine.yield(i) end end)
		for i = 1, 2000 do n = n + co() end
		print(fib(21), n)
	END
	cat >"$work/other.lua" <<-'END'
		local sieve, primes = {}, 0
		for i = 2, 60000 do
			if not sieve[i] then primes = primes + 1; for j = i * i, 60000, i do sieve[j] = true end end
		end
		local words = {}
		for w in (("the quick brown fox jumps over the lazy dog "):rep(300)):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
		local keys = {}
		for k in pairs(words) do keys[#keys + 1] = k:upper():reverse() end
		table.sort(keys, function(a, b) return a > b end)
		local ok, err = pcall(function() local x = nil; return x.y end)
		print(primes, table.concat(keys, " "), ok, err, select("#", table.unpack({}, 1, 200)))
	END
	input=([train]="$work/train.lua" [other]="$work/other.lua")
}

setup_brotli() {
	folder=$(echo "$sources"/brotli-*/c)
	mapfile -t files < <(ls "$folder"/{common,dec,enc,tools}/*.c)
	flags="-I$folder/include" libraries=-lm run=(-c -q 6)
	find "$folder/enc" -name '*.[ch]' | sort | xargs cat >"$work/all"
	head -c 1000000 "$work/all" >"$work/train.txt"
	gzip -c "$work/train.txt" >"$work/other.bin"
	cat "$(command -v ls)" >>"$work/other.bin"
	input=([train]="$work/train.txt" [other]="$work/other.bin")
}

setup_yaml() {
	folder=$(echo "$sources"/yaml-cpp-*)
	compiler=${clang/clang/clang++} flags="-I$folder/include -I$folder/src -std=c++11" libraries=
	cat >"$work/yaml.cc" <<-'END'
		#include <fstream>
		#include <iostream>
		#include <sstream>
		#include "yaml-cpp/yaml.h"
		// Parses each line of a file as a document of its own, and counts those that throw.
		int main(int, char **argv) {
			std::ifstream in(argv[1]);
			std::string line, all;
			int bad = 0;
			while (std::getline(in, line)) {
				all += line + "\n";
				try {
					YAML::Node n = YAML::Load(line);
					for (auto i : n) if (i.second && i.second.IsScalar()) bad += i.second.as<int>() < 0;
				} catch (const YAML::Exception &) { bad++; }
			}
			try { std::cout << YAML::Load(all).size(); } catch (const YAML::Exception &e) { std::cout << e.what(); }
			std::cout << " " << bad << "\n";
		}
	END
	mapfile -t files < <(ls "$folder"/src/*.cpp)
	files+=("$work/yaml.cc")
	for i in $(seq 600); do echo "key$i: {a: $i, b: [1, 2, \"three $i\"], c: -$((i % 7))}"; [ $((i % 5)) = 0 ] && echo "bad$i: [$i"; done >"$work/train.yaml"
	for i in $(seq 300); do printf 'item_%d: "text \\u00%02x with escapes"\nlist%d: [%d, ~, true, 0x1f]\n' $i $((i % 90 + 32)) $i $i; [ $((i % 9)) = 0 ] && echo "? {broken: $i"; done >"$work/other.yaml"
	input=([train]="$work/train.yaml" [other]="$work/other.yaml")
}

setup_perl() {
	folder=$(echo "$sources"/perl-5*) build=compile_perl
	cat >"$work/train.pl" <<-'END'
		my (%n, @l); my $t = "the quick brown fox jumps over the lazy dog " x 400;
		$n{lc $1}++ while $t =~ /(\w+)/g;
		push @l, sprintf("%s=%d", $_, $n{$_}) for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
		sub fib { my $k = shift; $k < 2 ? $k : fib($k - 1) + fib($k - 2) }
		my $s = join ",", map { $_ * 2 } grep { $_ % 3 } 1 .. 5000;
		(my $u = $s) =~ s/(\d)(\d)/$2$1/g;
		my @sorted = sort { $a <=> $b } map { ($_ * 7919) % 10007 } 1 .. 5000;
		print join(" ", @l), " ", fib(16), " ", length($u), " $sorted[42]\n";
	END
	cat >"$work/other.pl" <<-'END'
		package Stack; sub new { bless { items => [] }, shift } sub push { my $s = shift; push @{ $s->{items} }, @_; $s } sub pop { pop @{ $_[0]{items} } }
		package main; my $s = Stack->new; $s->push($_) for 1 .. 3000; my $sum = 0; while (defined(my $x = $s->pop)) { $sum += $x }
		my @lines = map { "line $_: " . ("x" x ($_ % 17)) . "\t" . ($_ ** 2 % 101) } 1 .. 2000; my %by;
		for (@lines) { my ($n, $rest) = /^line (\d+): (.*)$/ or next; my @f = split /\t/, $rest; push @{ $by{ $f[1] } }, $n; }
		my $out = ""; $out .= pack("NnC", $_, $_ & 0xffff, $_ & 0xff) for 1 .. 2000; my @back = unpack("(NnC)*", $out);
		local $_ = "abc" x 500; tr/a-c/x-z/; my $c = () = /zx/g; eval { die { code => 7 } }; print "$sum $c $@->{code} ", scalar(keys %by), " ", scalar(@back), "\n";
	END
	input=([train]="$work/train.pl" [other]="$work/other.pl")
}

echo '| program | build | taken jumps | I1 misses | pages | other input: taken jumps | I1 misses | pages |'
echo '|---|---|--:|--:|--:|--:|--:|--:|'
for name in "${@:-lua brotli yaml perl}"; do
	for name in $name; do
		case $name in
		gcc-*) (try_gcc "${name#gcc-}") ;;
		*) (try "$name") ;;
		esac
	done
done

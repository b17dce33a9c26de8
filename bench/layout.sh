#!/usr/bin/env bash
# Measures what a code layout gains: layout.sh AFDO SOURCES [PROGRAM...]
#
# SOURCES is a folder with the unpacked sources of lua5.4, brotli, yaml-cpp and perl (configured with
# clang-22, -fno-pie and -no-pie, so that "make miniperl" works), and for the programs that are
# measured only if they are named, of cppcheck (xml: its copies of simplecpp and tinyxml2),
# libjsoncpp (json), mujs and cmark. Each program is compiled by clang-22 -O2 and linked by lld:
#
#	-O2                     as it is
#	layout                  with a layout by afdo of callgrind's exact counts
#	layout, other link      the same objects, linked in another order: the functions that did not run
#	                        in the training are at other places
#	layout, both inputs     with a layout of the counts of both inputs
#	BOLT                    rewritten by llvm-bolt-22, if that is installed, with the same counts
#	AutoFDO                 with a sample profile of the same counts
#	AutoFDO, layout         with that profile, and a layout of the program that was compiled with it
#	AutoFDO, stale list     the same, but the list has the entries of the layout without AutoFDO for
#	                        the 7 units with the most functions in it
#	..., checked            the same by "afdo exec --layout", which drops stale entries
#
# Printed are, for the input of the training and for another one, the instructions that ran, the jumps
# that were taken in the program's own code, the misses of an instruction cache of 32 KB with 8 ways,
# and the pages of code that were used, all by callgrind. STALE is the number of units with a stale list,
# instead of 7. ROWS is a pattern of the rows to measure, and KEEP a folder for what is built.
set -euo pipefail
afdo=$(realpath "$1") sources=$(realpath "$2")
shift 2
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
clang=${CLANG:-clang-22} bolt=llvm-bolt-22
export AFDO_CACHE_DIR=$work/cache
mkdir -p "$work/bin"
ln -sf "$(command -v ld.lld-22)" "$work/bin/ld.lld" # by the name that GCC looks for
export PATH=$work/bin:$PATH

# compile OUT CFLAGS LDFLAGS [LAUNCHER]: builds the program of the current function "setup_...".
compile() {
	local out=$1 cflags=$2 ldflags=$3 launcher=${4-} objects=() file object
	mkdir -p "$work/$program.$out"
	for file in "${files[@]}"; do
		object=$work/$program.$out/$(echo "${file#"$folder"/}" | tr / _).o
		objects+=("$object")
		$launcher "$compiler" -O2 -fno-pie $flags $cflags -c "$file" -o "$object" 2>"$object.log" || { cat "$object.log" >&2; exit 1; } &
		while [ "$(jobs -r | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	done
	wait
	"$compiler" -no-pie -fuse-ld=lld -Wl,--build-id $ldflags "${objects[@]}" -o "$work/$program.$out/$program" $libraries
}

# perl has a build of its own, which runs the compiler that it was configured with: a launcher is put
# before it by a script of the same name.
compile_perl() {
	local out=$1 cflags=$2 ldflags=$3 launcher=${4-} path=$PATH
	mkdir -p "$work/$program.$out" "$work/launch"
	if [ -n "$launcher" ]; then
		printf '#!/bin/sh\nexec %s %s "$@"\n' "$launcher" "$(command -v "$compiler")" >"$work/launch/$compiler"
		chmod +x "$work/launch/$compiler"
		path=$work/launch:$PATH
	fi
	(cd "$folder" && rm -f -- *.o miniperl && PATH=$path make -j"$(nproc)" miniperl OPTIMIZE="-O2 -fno-pie $cflags" CLDFLAGS="-no-pie -fuse-ld=lld -Wl,--build-id $ldflags" >"$work/log" 2>&1) ||
		{ tail "$work/log" >&2; exit 1; }
	cp "$folder/miniperl" "$work/$program.$out/$program"
	cp "$folder"/*.o "$work/$program.$out"
	rm "$work/$program.$out/generate_uudmap.o" # of another program
}

# taken FILE PROGRAM: jumps taken in the program's own code, and pages with code that ran. Callgrind
# knows only the section .text of a program. Code of other sections, which BOLT adds, is in no object:
# it is recognised by its addresses, because programs are linked at low ones. A jump to another symbol
# is a call for callgrind: those between a function and its cold part count as jumps here.
taken() {
	awk -v ours="/$2\$" '
		/^ob=/ { sub(/^ob=/, ""); id = $1; if (NF > 1) name[id] = $2; in_ours = name[id] ~ ours; nowhere = name[id] == "???" }
		/^cob=/ { sub(/^cob=/, ""); if (NF > 1) name[$1] = $2 }
		/^fn=/ { sub(/^fn=/, ""); own = $1; if (NF > 1) functions[$1] = base($2); caller = functions[$1] }
		/^cfn=/ { sub(/^cfn=/, ""); if (NF > 1) functions[$1] = base($2); callee = functions[$1]; other = $1 != own }
		/^calls=/ { if (caller == callee && other) pending += substr($1, 7) }
		/^(jump|jcnd)=/ { split($1, n, /[=\/]/); pending += n[2] }
		/^[0-9+*-]/ {
			if ($1 ~ /^0x/) at = hex(substr($1, 3)); else if ($1 ~ /^\+/) at += $1; else if ($1 ~ /^-/) at -= substr($1, 2)
			if (in_ours || nowhere && at < 268435456) { jumps += pending; pages[int(at / 4096)] }
			pending = 0
		}
		function base(s) { sub(/\x27[0-9]+$/, "", s); sub(/\.cold(\.[0-9]+)?$/, "", s); sub(/\/[0-9]+$/, "", s); return s }
		function hex(s,   i, v) { for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		END { printf "%d %d", jumps, length(pages) }' "$1"
}

# measure LABEL BINARY: a line of the table.
measure() {
	local line="| $program | $1 |" i misses instructions
	for i in train other; do
		record "$2" "$work/out" "${input[$i]}"
		misses=$(awk '/I1 *misses/ { gsub(",", ""); print $NF }' "$work/out.log")
		read -r jumps pages <<<"$(taken "$work/out" "$program")"
		instructions=$(awk '/I *refs/ { gsub(",", ""); print $NF }' "$work/out.log")
		line+=" $instructions | $jumps | $misses | $pages |"
	done
	echo "$line"
}

# record BINARY OUT [INPUT]: counts what a program runs, with the input of the training by default.
record() {
	valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --demangle=no --cache-sim=yes --I1=32768,8,64 --callgrind-out-file="$2" \
		"$1" "${run[@]}" "${3-${input[train]}}" >/dev/null 2>"$2.log" || { tail "$2.log" >&2; exit 1; }
}

# wanted LABEL: whether the row is to be measured.
wanted() { [[ $1 =~ ${ROWS-.} ]]; }

map='-fbasic-block-address-map -mllvm -emit-bb-hash'

# lay_out BUILD PREFIX: makes a layout of a build with a map.
lay_out() {
	record "$work/$program.$1/$program" "$work/recording"
	"$afdo" layout --binary "$work/$program.$1/$program" --profile "$work/recording" -o "$2"
}

# order PREFIX: the flags of the linker for a layout.
order() { echo "-Wl,--symbol-ordering-file=$1_ld_profile.txt,--no-warn-symbol-ordering"; }

# mix OLD NEW OUT BUILD: the list NEW with the entries of OLD for the units of a build that have the
# most functions in OLD.
mix() {
	local object
	for object in "$work/$program.$4"/*.o; do
		llvm-nm-22 --defined-only --format=just-symbols "$object" | awk -v object="$object" 'NR == FNR { if ($1 == "f") listed[$2]; next } $1 in listed { n++ } END { print n + 0, object }' "$1" -
	done | sort -k1,1nr -k2 | head -n "${STALE:-7}" | cut -d' ' -f2- | xargs llvm-nm-22 --defined-only --format=just-symbols 2>/dev/null >"$work/changed"
	awk '
		FILENAME == ARGV[1] { changed[$1]; next }
		$1 == "v1" { if (FILENAME == ARGV[2]) print; next }
		$1 == "f" { take = ($2 in changed) == (FILENAME == ARGV[2]) }
		take' "$work/changed" "$1" "$2" >"$3"
}

try() {
	local names='-g1 -gdwarf-4 -fdebug-info-for-profiling -funique-internal-linkage-names' base sampled
	program=$1 flags='' libraries='' build=compile run=()
	declare -gA input=()
	compiler=$clang
	base=$work/$program sampled=-fprofile-sample-use=$work/$program.extbinary
	"setup_$program"
	$build plain "$names $map" '-Wl,-q'
	lay_out plain "$base"
	wanted -O2 && measure -O2 "$work/$program.plain/$program"
	if wanted layout; then
		$build laid "$names -fbasic-block-sections=list=${base}_cc_profile.txt" "$(order "$base")"
		measure layout "$work/$program.laid/$program"
	fi
	if wanted 'other link'; then
		mkdir -p "$work/relinked"
		"$compiler" -no-pie -fuse-ld=lld $(order "$base") $(ls -r "$work/$program.laid"/*.o) -o "$work/relinked/$program" $libraries
		measure 'layout, other link' "$work/relinked/$program"
	fi
	if wanted 'both inputs'; then
		record "$work/$program.plain/$program" "$work/second" "${input[other]}"
		"$afdo" layout --binary "$work/$program.plain/$program" --profile "$work/recording" --profile "$work/second" -o "$base.both"
		$build both-inputs "$names -fbasic-block-sections=list=$base.both_cc_profile.txt" "$(order "$base.both")"
		measure 'layout, both inputs' "$work/$program.both-inputs/$program"
	fi
	wanted BOLT && command -v $bolt >/dev/null && try_bolt plain && measure BOLT "$work/$program.bolt/$program"
	wanted AutoFDO || return 0
	"$afdo" create --binary "$work/$program.plain/$program" --profile "$work/recording" --to extbinary -o "$work/$program.extbinary"
	$build sampled "$names $sampled $map" ''
	measure AutoFDO "$work/$program.sampled/$program"
	lay_out sampled "$base.sampled"
	$build both "$names $sampled -fbasic-block-sections=list=$base.sampled_cc_profile.txt" "$(order "$base.sampled")"
	measure 'AutoFDO, layout' "$work/$program.both/$program"
	wanted stale || return 0
	mix "${base}_cc_profile.txt" "$base.sampled_cc_profile.txt" "$base.mixed_cc_profile.txt" sampled
	$build stale "$names $sampled -fbasic-block-sections=list=$base.mixed_cc_profile.txt" "$(order "$base.sampled")"
	measure 'AutoFDO, stale list' "$work/$program.stale/$program"
	$build checked "$names $sampled" "$(order "$base.sampled")" "$afdo exec --layout $base.mixed --"
	measure 'AutoFDO, stale list, checked' "$work/$program.checked/$program"
}

# try_bolt BUILD: rewrites a build by BOLT, with the counts of the last recording.
try_bolt() {
	"$afdo" create --binary "$work/$program.$1/$program" --profile "$work/recording" --to fdata -o "$work/fdata"
	mkdir -p "$work/$program.bolt"
	$bolt "$work/$program.$1/$program" -o "$work/$program.bolt/$program" -data "$work/fdata" \
		-reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -split-eh >"$work/log" 2>&1 || { tail "$work/log" >&2; return 1; }
}

# try_gcc compares GCC without and with an order of functions, and with BOLT.
try_gcc() {
	program=$1 flags='' libraries='' build=compile run=()
	declare -gA input=()
	"setup_$program"
	compiler=gcc
	$build gcc '-ffunction-sections -fno-reorder-blocks-and-partition' '-Wl,-q'
	record "$work/$program.gcc/$program" "$work/recording"
	measure GCC "$work/$program.gcc/$program"
	"$afdo" layout --order-only --binary "$work/$program.gcc/$program" --profile "$work/recording" -o "$work/$program"
	$build ordered '-ffunction-sections -fno-reorder-blocks-and-partition' "$(order "$work/$program")"
	measure 'GCC, order of functions' "$work/$program.ordered/$program"
	if try_bolt gcc; then measure 'GCC, BOLT' "$work/$program.bolt/$program"; fi
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
	folder=$(echo "$sources"/perl-5*) build=compile_perl libraries='-lpthread -ldl -lm -lcrypt'
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

setup_xml() {
	folder=$(echo "$sources"/cppcheck-*/externals)
	compiler=${clang/clang/clang++} flags="-I$folder/simplecpp -I$folder/tinyxml2"
	cat >"$work/xml.cc" <<-'END'
		#include <fstream>
		#include <iostream>
		#include <sstream>
		#include "simplecpp.h"
		#include "tinyxml2.h"
		// Preprocesses a file, writes its tokens as XML, reads that and counts the elements.
		struct counter : tinyxml2::XMLVisitor {
			int elements = 0, attributes = 0;
			bool VisitEnter(const tinyxml2::XMLElement &, const tinyxml2::XMLAttribute *a) override {
				for (elements++; a; a = a->Next()) attributes++;
				return true;
			}
		};
		int main(int, char **argv) {
			std::ifstream in(argv[1]);
			std::vector<std::string> names;
			simplecpp::OutputList errors;
			simplecpp::TokenList raw(in, names, argv[1], &errors), out(names);
			raw.removeComments();
			simplecpp::DUI dui;
			dui.defines.push_back("LIMIT=3");
			std::map<std::string, simplecpp::TokenList *> loaded;
			simplecpp::preprocess(out, raw, names, loaded, dui, &errors);
			tinyxml2::XMLPrinter printer;
			printer.OpenElement("file");
			for (const simplecpp::Token *t = out.cfront(); t; t = t->next) {
				printer.OpenElement(t->name ? "name" : t->number ? "number" : "other");
				printer.PushAttribute("line", t->location.line);
				printer.PushText(t->str().c_str());
				printer.CloseElement();
			}
			printer.CloseElement();
			tinyxml2::XMLDocument doc;
			doc.Parse(printer.CStr());
			counter c;
			doc.Accept(&c);
			std::cout << c.elements << " " << c.attributes << " " << errors.size() << "\n";
		}
	END
	files=("$folder"/simplecpp/simplecpp.cpp "$folder"/tinyxml2/tinyxml2.cpp "$work/xml.cc")
	for i in $(seq 300); do printf '#define SUM%d(a, b) ((a) + (b) * %d)\n#if LIMIT > %d\nint f%d(int x) { /* adds */ return SUM%d(x, "text <%d>"[0]); }\n#endif\n' $i $i $((i % 6)) $i $i $i; done >"$work/train.c"
	for i in $(seq 200); do printf '#define CAT%d(a, ...) a##_%d(#a, __VA_ARGS__) // joins\n#ifdef CAT%d\nchar *s%d = CAT%d(name, 0x%x, \\\n\t"a&b");\n#elif defined(LIMIT) && (LIMIT << 2) == %d\n#undef LIMIT\n#else\n#error none\n#endif\n' $i $i $((i + i % 2)) $i $i $i $i; done >"$work/other.c"
	input=([train]="$work/train.c" [other]="$work/other.c")
}

setup_json() {
	folder=$(echo "$sources"/libjsoncpp-*)
	compiler=${clang/clang/clang++} flags="-I$folder/include"
	cat >"$work/json.cc" <<-'END'
		#include <json/json.h>
		#include <fstream>
		#include <iostream>
		// Reads each line of a file as a document, changes it and writes it in two styles.
		int main(int, char **argv) {
			std::ifstream in(argv[1]);
			std::string line, error;
			Json::CharReaderBuilder reader;
			Json::StreamWriterBuilder dense, pretty;
			dense["indentation"] = "";
			std::unique_ptr<Json::CharReader> r(reader.newCharReader());
			size_t bytes = 0, bad = 0;
			while (std::getline(in, line)) {
				Json::Value v;
				if (!r->parse(line.data(), line.data() + line.size(), &v, &error)) { bad++; continue; }
				if (v.isObject()) for (auto &name : v.getMemberNames()) if (v[name].isInt()) v[name] = v[name].asInt() + 1;
				bytes += Json::writeString(dense, v).size() + Json::writeString(pretty, v).size();
			}
			std::cout << bytes << " " << bad << "\n";
		}
	END
	mapfile -t files < <(ls "$folder"/src/lib_json/*.cpp)
	files+=("$work/json.cc")
	for i in $(seq 1500); do echo "{\"id\": $i, \"name\": \"item $i\", \"tags\": [\"a\", \"b$((i % 9))\"], \"price\": $((i % 97)).25, \"ok\": true}"; done >"$work/train.json"
	for i in $(seq 700); do echo "[{\"deep\": {\"er\": [null, -$i, 1e$((i % 30)), \"\\u00e$((i % 10)) \\n tab\\t\"]}}, /* comment */ false, {}, []]"; [ $((i % 7)) = 0 ] && echo "{\"broken\": [$i,"; done >"$work/other.json"
	input=([train]="$work/train.json" [other]="$work/other.json")
}

setup_mujs() {
	folder=$(echo "$sources"/mujs-*) libraries=-lm
	mapfile -t files < <(ls "$folder"/{js*,regexp,utf,main}.c)
	cat >"$work/train.js" <<-'END'
		function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		var words = {}, text = "the quick brown fox jumps over the lazy dog ", all = "";
		for (var i = 0; i < 60; i++) all += text + i + " ";
		all.split(" ").forEach(function (w) { words[w] = (words[w] || 0) + 1; });
		var list = []; for (var i = 0; i < 2000; i++) list.push((i * 7919) % 2003);
		list.sort(function (a, b) { return a - b; });
		print(fib(17), Object.keys(words).length, list[42], list.map(function (x) { return x * 2; }).join(",").length);
	END
	cat >"$work/other.js" <<-'END'
		function Stack() { this.items = []; } Stack.prototype.push = function (x) { this.items[this.items.length] = x; };
		Stack.prototype.pop = function () { var x = this.items[this.items.length - 1]; this.items.length--; return x; };
		var s = new Stack(), sum = 0; for (var i = 0; i < 2000; i++) s.push(i); while (s.items.length) sum += s.pop();
		var text = ""; for (var i = 0; i < 300; i++) text += "key" + i + "=" + Math.sqrt(i).toFixed(3) + ";";
		var found = 0, re = /(\w+)=(\d+)\.(\d*)/g, m; while ((m = re.exec(text))) found += m[2].length;
		var o = JSON.parse(JSON.stringify({ a: [1, 2.5, "x\n"], d: new Date(86400000), n: null }));
		try { undefined.x; } catch (e) { sum += e.message.length; }
		switch (typeof o.a) { case "object": sum++; } print(sum, found, o.a[1], text.replace(/[0-9]/g, "#").toUpperCase().length);
	END
	input=([train]="$work/train.js" [other]="$work/other.js")
}

setup_cmark() {
	folder=$(echo "$sources"/cmark-*/src)
	mapfile -t files < <(ls "$folder"/*.c)
	mkdir -p "$work/inc"
	printf '#define HAVE_STDBOOL_H 1\n#define CMARK_ATTRIBUTE(x)\n#define CMARK_INLINE inline\n#include <stdbool.h>\n' >"$work/inc/config.h"
	printf '#define CMARK_EXPORT\n#define CMARK_NO_EXPORT\n' >"$work/inc/cmark_export.h"
	printf '#define CMARK_VERSION 0\n#define CMARK_VERSION_STRING "0"\n' >"$work/inc/cmark_version.h"
	flags="-I$work/inc -I$folder"
	for i in $(seq 250); do printf '# Heading %d\n\nSome *text* with `code %d`, a [link](http://example.org/%d "title") and **strong** words,\nover two lines.\n\n* item %d\n* item\n\n' $i $i $i $i; done >"$work/train.md"
	for i in $(seq 150); do printf '> Quote &amp; <b>html</b> ![image][ref%d]\n\n[ref%d]: </u%d> (t)\n\n```c\nint x = %d;\n```\n%d. one\n\n   two\\*\n\n---\n<div>\n*a _b* c_\n</div>\n\nSetext\n===\n\n    indented\n' $i $i $i $i $i; done >"$work/other.md"
	input=([train]="$work/train.md" [other]="$work/other.md")
}

echo '| program | build | instructions | taken jumps | I1 misses | pages | other input: instructions | taken jumps | I1 misses | pages |'
echo '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|'
for name in "${@:-lua brotli yaml perl}"; do
	for name in $name; do
		case $name in
		gcc-*) (try_gcc "${name#gcc-}") ;;
		*) (try "$name") ;;
		esac
	done
done

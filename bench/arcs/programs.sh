# The programs that run.sh builds, from the source packages of Debian 12 in $sources, and the inputs that it makes in
# $work/in. Each program has two inputs: train, which is recorded, and other, which is measured.

# files PROGRAM prints the source files.
files() {
	local s
	case $1 in
	bzip2) s=$(echo "$sources"/bzip2-*) && echo "$s"/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib,bzip2}.c ;;
	picosat) s=$(echo "$sources"/picosat-*) && echo "$s"/{app,main,picosat,version}.c ;;
	minisat) s=$(echo "$sources"/minisat2-*/minisat) && echo "$s"/{core/Solver,utils/Options,utils/System,simp/SimpSolver,simp/Main}.cc ;;
	zopfli) ls "$sources"/zopfli-*/src/zopfli/*.c ;;
	lzip) s=$(echo "$sources"/lzip-*) && echo "$s"/{arg_parser,lzip_index,list,encoder_base,encoder,fast_encoder,decoder,main}.cc ;;
	tcc) echo "$sources"/tcc-*/tcc.c ;;
	duktape) s=$(echo "$sources"/duktape-*) && echo "$s"/{src/duktape,examples/cmdline/duk_cmdline,extras/print-alert/duk_print_alert,extras/console/duk_console}.c ;;
	lua) ls "$sources"/lua5.4-*/src/*.c | grep -v -e /luac.c -e /onelua.c -e /ltests.c ;;
	mawk) s=$(echo "$sources"/mawk-*) && echo "$s"/{array,bi_funct,bi_vars,cast,code,da,error,execute,fcall,field,files,fin,hash,init,jmp,kw,main,matherr,memory,parse,print,re_cmpl,regexp,scan,split,version,zmalloc}.c "$work/made/mawk/scancode.c" ;;
	mujs) ls "$sources"/mujs-*/js*.c "$sources"/mujs-*/{regexp,utf,main}.c ;;
	cmark) ls "$sources"/cmark-*/src/*.c ;;
	esac
}

# flags PROGRAM prints the flags for all files, and libraries PROGRAM those for the linker.
flags() {
	local s
	case $1 in
	bzip2) echo -D_FILE_OFFSET_BITS=64 ;;
	picosat) echo -DNDEBUG -I"$work/made/picosat" ;;
	minisat) echo -I"$(echo "$sources"/minisat2-*)" -DNDEBUG -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS -fpermissive -std=gnu++98 ;;
	zopfli) echo -std=gnu99 ;;
	lzip) echo '-DPROGVERSION="1"' -std=gnu++14 ;;
	tcc) echo -DONE_SOURCE=1 -I"$(echo "$sources"/tcc-*)" -I"$work/made/tcc" ;;
	duktape) s=$(echo "$sources"/duktape-*) && echo -std=gnu99 -DDUK_CMDLINE_PRINTALERT_SUPPORT -DDUK_CMDLINE_CONSOLE_SUPPORT -I"$s"/{extras/print-alert,extras/console,examples/cmdline,src} ;;
	lua) echo -DLUA_USE_POSIX -DLUA_COMPAT_5_3 -I"$work/made/lua" ;;
	mawk) echo -DHAVE_CONFIG_H -DRETSIGTYPE=void -DNOINFO_SIGFPE -I"$work/made/mawk" -I"$(echo "$sources"/mawk-*)" ;;
	cmark) echo -DCMARK_STATIC_DEFINE -include stdbool.h -I"$work/made/cmark" ;;
	esac
}
libraries() {
	case $1 in
	minisat) echo -lz ;;
	tcc) echo -ldl -lm -lpthread ;;
	*) echo -lm ;;
	esac
}

# compiler PROGRAM SUFFIX prints the compiler.
compiler() { case $1 in minisat | lzip) echo "g++$2" ;; *) echo "gcc$2" ;; esac }

# prepare makes generated headers and the inputs.
prepare() {
	mkdir -p "$work"/{in,made/{picosat,tcc,lua,mawk,cmark}}
	[ ! -e "$work/in/done" ] || return 0
	local mawk tcc s
	printf '#define PICOSAT_%s "none"\n' CC CFLAGS VERSION >"$work/made/picosat/config.h"
	echo '#define DEB_HOST_MULTIARCH "none"' >"$work/made/lua/lua5.4-deb-multiarch.h"
	tcc=$(echo "$sources"/tcc-*)
	mkdir -p "$work/made/tcc-build" && (cd "$work/made/tcc-build" && sh "$tcc/configure" >/dev/null 2>&1 && cp config.h "$work/made/tcc/")
	mawk=$(echo "$sources"/mawk-*)
	mkdir -p "$work/made/mawk" && (cd "$work/made/mawk" && sh "$mawk/configure" >/dev/null 2>&1 && make scancode.c >/dev/null 2>&1)
	s=$(echo "$sources"/cmark-*)/src
	printf '#define CMARK_%s\n' 'VERSION 1' 'VERSION_STRING "1"' >"$work/made/cmark/cmark_version.h"
	printf '#define CMARK_%s\n' EXPORT INLINE=inline >"$work/made/cmark/cmark_export.h"
	sed -i s/=/' '/ "$work/made/cmark/cmark_export.h"
	printf '#define HAVE_%s\n' STDBOOL_H __BUILTIN_EXPECT ___ATTRIBUTE__ >"$work/made/cmark/config.h"
	printf '#define CMARK_%s\n' 'ATTRIBUTE(list) __attribute__ (list)' >>"$work/made/cmark/config.h"
	cat "$sources"/picosat-*/*.c | head -c 600000 >"$work/in/text.train"
	cat "$sources"/duktape-*/src/duktape.c "$sources"/lua5.4-*/src/l*.h "$(command -v gcc)" | tail -c +300000 | head -c 800000 >"$work/in/text.other"
	head -c 60000 "$work/in/text.train" >"$work/in/z.train"
	tail -c 400000 "$work/in/text.other" | head -c 120000 >"$work/in/z.other"
	cnf 130 560 1 >"$work/in/sat1.train"
	cnf 400 1480 2 >"$work/in/sat2.train"
	cnf 140 600 5 >"$work/in/sat1.other"
	cnf 500 1850 4 >"$work/in/sat2.other"
	cat "$root"/docs/*.md "$root"/docs/*/*.md "$root"/*.md >"$work/in/md.train" 2>/dev/null || true
	cat "$sources"/cmark-*/{test/*.txt,*.md,changelog.txt} "$sources"/*/README* >"$work/in/md.other" 2>/dev/null || true
	touch "$work/in/done"
}

# compressed PROGRAM BINARY makes the inputs that the program decompresses.
compressed() {
	local i
	case $1 in
	bzip2) for i in train other; do "$2" -zc <"$work/in/text.$i" >"$work/in/text.$i.bz2"; done ;;
	lzip) for i in train other; do "$2" -3 -c <"$work/in/text.$i" >"$work/in/text.$i.lz"; done ;;
	esac
}

# cnf VARIABLES CLAUSES SEED prints a random problem for SAT solvers.
cnf() {
	awk -v n="$1" -v m="$2" -v random="$3" '
		function below(k) { random = random * 16807 % 2147483647; return int(random / 8) % k }
		BEGIN { print "p cnf", n, m
			for (i = 0; i < m; i++) { s = ""; for (j = 0; j < 3; j++) s = s (below(2) ? "-" : "") (1 + below(n)) " "; print s "0" } }'
}

# commands PROGRAM INPUT prints the commands that run the program: arguments, and "<" with a file for standard input.
commands() {
	local in=$work/in i=$2 js=train.js awk=train.awk
	[ "$i" = train ] || js=other.js awk=other.awk
	case $1 in
	bzip2) echo "-zc < $in/text.$i"; echo "-dc < $in/text.$i.bz2" ;;
	lzip) echo "-3 -c < $in/text.$i"; echo "-d -c < $in/text.$i.lz" ;;
	zopfli) echo "--i1 -c $in/z.$i" ;;
	picosat) echo "-n -l 20000000 $in/sat1.$i"; echo "-n -l 20000000 $in/sat2.$i" ;;
	minisat) echo "-verb=0 $in/sat1.$i"; echo "-verb=0 $in/sat2.$i" ;;
	tcc) local t="-B$(echo "$sources"/tcc-*) -I/usr/include/x86_64-linux-gnu -I$(echo "$sources"/tcc-*)/include -c -o $work/in/tcc.o" f
		if [ "$i" = train ]; then for f in "$sources"/{picosat-*/picosat,bzip2-*/compress,bzip2-*/bzlib}.c; do echo "$t -DNDEBUG $f"; done
		else echo "$t -I$(echo "$sources"/duktape-*)/src $(echo "$sources"/duktape-*)/src/duktape.c"; fi ;;
	duktape | mujs) echo "$here/programs/$js" ;;
	lua) echo "$root/bench/pays/programs/$i.lua" ;;
	mawk) echo "-f $here/programs/$awk $in/text.$i" ;;
	cmark) echo "$in/md.$i"; echo "-t commonmark $in/md.$i" ;;
	esac
}

# Words, fields, regular expressions and sums of a C source.
{ for (i = 1; i <= NF; i++) { gsub(/[^A-Za-z0-9_]/, "", $i); if ($i != "") count[$i]++ } lines[length($0)]++ }
/^static|^int|^void/ { functions++; name = $NF; sub(/\(.*/, "", name); seen[name] = NR }
/if *\(/ { depth += gsub(/\(/, "(") }
{ if (match($0, /[a-z]+_[a-z]+/)) longest = RLENGTH > longest ? RLENGTH : longest }
END { for (w in count) if (count[w] > best) { best = count[w]; word = w } print word, best, functions, depth, longest, toupper(substr(word, 1, 3)); printf "%d %s\n", NR, sprintf("%05.2f", best / 7) }

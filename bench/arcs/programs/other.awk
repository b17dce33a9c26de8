# Splitting, associative arrays, a hash and numbers.
BEGIN { FS = "[ \t,;]+" }
{ n = split($0, part, /[(){}]/); parts += n; for (i = 1; i <= n; i++) if (part[i] ~ /^[ \t]*return/) returns++ }
NF > 3 { key = $2 SUBSEP $3; pair[key]++; for (i = NF; i > 1; i -= 2) line = line substr($i, 1, 2); h = 0; for (i = 1; i <= length(line) && i < 20; i++) h = (h * 31 + index("abcdefghijklmnopqrstuvwxyz", substr(line, i, 1))) % 65521; sum += h; line = "" }
/\/\*/, /\*\// { comments++ }
END { for (k in pair) if (pair[k] > 2) { split(k, two, SUBSEP); total += length(two[1]) * pair[k] } while (++x < 20000) y = (y * 3 + x) % 1013; print parts, returns, sum, comments, total, y; print tolower("DONE"), int(sqrt(sum)) }

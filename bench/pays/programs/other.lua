-- Queens, a matrix, closures and a parser: other work than train.lua's.
local function queens(n)
	local solutions, columns, up, down = 0, {}, {}, {}
	local function place(row)
		if row > n then solutions = solutions + 1 return end
		for c = 1, n do
			if not (columns[c] or up[row + c] or down[row - c]) then
				columns[c], up[row + c], down[row - c] = true, true, true
				place(row + 1)
				columns[c], up[row + c], down[row - c] = nil, nil, nil
			end
		end
	end
	place(1)
	return solutions
end
local function matrix(n)
	local a, sum = {}, 0
	for i = 1, n do a[i] = {} for j = 1, n do a[i][j] = i + j * 0.5 end end
	for i = 1, n do for j = 1, n do local s = 0 for k = 1, n do s = s + a[i][k] * a[k][j] end sum = sum + s end end
	return sum
end
local function evaluate(text)
	local at = 1
	local sum
	local function atom()
		if text:sub(at, at) == "(" then at = at + 1; local v = sum(); at = at + 1; return v end
		local number = text:match("^%d+", at)
		at = at + #number
		return tonumber(number)
	end
	local function product() local v = atom() while text:sub(at, at) == "*" do at = at + 1; v = v * atom() % 1000003 end return v end
	sum = function() local v = product() while text:sub(at, at) == "+" do at = at + 1; v = v + product() end return v end
	return sum()
end
local function closures(n) local list = {} for i = 1, n do list[i] = function(x) return x + i end end local s = 0 for i = 1, n do s = list[i](s) end return s end
print(queens(7), matrix(50), evaluate(("(1+2*3)*"):rep(2000) .. "4"), closures(20000))

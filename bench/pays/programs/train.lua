-- Calls, tables, strings, sorting and arithmetic.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sieve(n)
	local composite, primes = {}, 0
	for i = 2, n do
		if not composite[i] then
			primes = primes + 1
			for j = i * i, n, i do composite[j] = true end
		end
	end
	return primes
end
local function words(n)
	local list = {}
	for i = 1, n do list[#list + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
	local text, digits = table.concat(list, ","), 0
	for number in text:gmatch("%d+") do digits = digits + #number end
	return digits, #text:gsub("x+", "y")
end
local function objects(n)
	local class = {}
	class.__index = class
	class.__add = function(a, b) return setmetatable({ v = a.v + b.v }, class) end
	local sum = setmetatable({ v = 0 }, class)
	for i = 1, n do sum = sum + setmetatable({ v = i }, class) end
	return sum.v
end
local function sorted(n)
	local list, x = {}, 42
	for i = 1, n do x = (x * 1103515245 + 12345) % 2147483648; list[i] = x end
	table.sort(list, function(a, b) return a < b end)
	return list[1]
end
print(fib(20), sieve(30000), words(2500), objects(10000), sorted(5000))

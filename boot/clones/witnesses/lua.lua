-- Witness for Lua 5.3 and 5.4: shows which random sources repeat in copies of a warm process.
--
-- Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
-- is copied while it waits, and each copy draws for itself; whoever started it compares them.
-- HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws`.

local WARM_UPS = 5
local DRAWS = 8

local home = os.getenv("HEADWATER_WITNESS_DIR")

local function exists(name)
  local file = io.open(home .. "/" .. name)
  if file then
    file:close()
  end
  return file ~= nil
end

-- Written under another name first, so that nobody reads half of it.
local function publish(name, lines)
  local unfinished = home .. "/" .. name .. ".tmp"
  local file = assert(io.open(unfinished, "w"))
  assert(file:write(table.concat(lines, "\n"), "\n"))
  assert(file:close())
  assert(os.rename(unfinished, home .. "/" .. name))
end

-- The file exists when its name returns. It goes at once: a name still taken makes the next copy
-- try another one, and that retry would hide a repeat.
local function temporary_name()
  local path = os.tmpname()
  os.remove(path)
  return path:match("[^/]+$")
end

-- The kernel's source first: only its first draws are sure to be the same in each copied machine.
local sources = {
  { "os.tmpname", temporary_name },
  {
    "math.random",
    -- Two to a value: Lua 5.3 draws from a C library that may give 31 bits only.
    function()
      return string.format("%.17g-%.17g", math.random(), math.random())
    end,
  },
}

local kept = {}
for number = 1, 40 do
  kept["key" .. number] = true
end

-- Made once per process and kept for its whole life.
local identities = {
  {
    "pairs order",
    function()
      local keys = {}
      for key in pairs(kept) do
        keys[#keys + 1] = key
      end
      return table.concat(keys, "-")
    end,
  },
  {
    "table address",
    function()
      return tostring(kept)
    end,
  },
}

local function draw(list, lines)
  for _, source in ipairs(list) do
    lines[#lines + 1] = "lua/" .. source[1] .. "\t" .. source[2]()
  end
end

local function witness()
  -- Until 5.4 Lua starts from a constant, and programs seed it by the clock.
  if _VERSION == "Lua 5.3" then
    math.randomseed(os.time())
  end
  for _ = 1, WARM_UPS do
    draw(sources, {})
  end
  draw(identities, {})

  publish("ready", { _VERSION })
  while not exists("go") do
    if not exists("ready") then
      return -- The planter gave up; nobody would ever say go.
    end
    -- Lua cannot sleep by itself, so a child does.
    os.execute("sleep 0.05")
  end

  local lines = {}
  for _ = 1, DRAWS do
    draw(sources, lines)
  end
  draw(identities, lines)
  publish("draws", lines)
end

local done, message = pcall(witness)
if not done then
  io.stderr:write("lua witness: ", tostring(message), "\n")
  os.exit(1)
end

/**
 * Windows in Lua. A counter is a string with its value and the end of its window. `take` reads the same counters as it writes, so that all
 * are counted or none. Each method receives the offsets of its keys and arguments, and the time.
 */
export const luaCounters = `
-- Whole numbers up to 2^53, which Lua would print with 14 digits.
local function whole(number) return string.format('%.0f', number) end

local function read_counter(key)
  local used, ends = string.match(redis.call('GET', key) or '', '^(%d+) (%-?%d+)$')
  return used and { used = tonumber(used), ends = tonumber(ends) }
end
local function write_counter(key, counter, at)
  redis.call('SET', key, whole(counter.used) .. ' ' .. whole(counter.ends), 'PX', whole(counter.ends - at + grace))
end
-- Neither over nor void: a window that ends so late was begun before the clock was set back.
local function is_counting(counter, at, window)
  return counter and counter.ends > at and counter.ends <= at + 2 * window
end

-- KEYS: the counters. ARGV: amount, limit and window of each. Returns 0, and what each counter holds and the milliseconds until its
-- window ends. Or the place of the counter without room, the milliseconds until it has room, and what it holds.
function methods.take(keys, args, at, count)
  local counters, pending = {}, {}
  for place = 1, count do
    local key = KEYS[keys + place]
    local amount, limit, window = tonumber(ARGV[args + 3 * place - 2]), tonumber(ARGV[args + 3 * place - 1]), tonumber(ARGV[args + 3 * place])
    if pending[key] == nil then
      counters[key] = read_counter(key)
      pending[key] = 0
    end
    local counter = counters[key]
    local counting = is_counting(counter, at, window)
    if (counting and counter.used or 0) + pending[key] + amount > limit then
      if not counting then return { place, window, 0 } end
      if counter.ends > at + window then
        counter.ends = at + window
        write_counter(key, counter, at)
      end
      return { place, counter.ends - at, counter.used }
    end
    pending[key] = pending[key] + amount
  end
  for place = 1, count do
    local key = KEYS[keys + place]
    local amount, window = tonumber(ARGV[args + 3 * place - 2]), tonumber(ARGV[args + 3 * place])
    local counter = counters[key]
    if is_counting(counter, at, window) then
      counters[key] = { used = counter.used + amount, ends = math.min(counter.ends, at + window) }
    else
      counters[key] = { used = amount, ends = at + window }
    end
  end
  for key, counter in pairs(counters) do write_counter(key, counter, at) end
  local held = { 0 }
  for place = 1, count do
    local counter = counters[KEYS[keys + place]]
    held[2 * place], held[2 * place + 1] = counter.used, counter.ends - at
  end
  return held
end

-- KEYS: a counter. ARGV: the amount.
function methods.add(keys, args, at)
  local counter = read_counter(KEYS[keys + 1])
  if counter and counter.ends > at then
    counter.used = math.max(0, counter.used + tonumber(ARGV[args + 1]))
    write_counter(KEYS[keys + 1], counter, at)
  end
  return 0
end
`

/** Slots in Lua: a sorted set of slots by expiry. */
export const luaSlots = `
local function keep_for(key, milliseconds)
  if redis.call('PTTL', key) < milliseconds then redis.call('PEXPIRE', key, whole(milliseconds)) end
end

-- KEYS: the set. ARGV: slot, limit, milliseconds. Returns 1 if the slot was taken.
function methods.enter(keys, args, at)
  local key, slot, limit, ttl = KEYS[keys + 1], ARGV[args + 1], tonumber(ARGV[args + 2]), tonumber(ARGV[args + 3])
  local ends = tonumber(redis.call('ZSCORE', key, slot) or at)
  if ends <= at and redis.call('ZCARD', key) >= limit then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(at))
    -- Slots that end later than this were taken before the clock was set back.
    for _, late in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. whole(at + ttl), '+inf')) do
      redis.call('ZADD', key, whole(at + ttl), late)
    end
    if redis.call('ZCARD', key) >= limit then return 0 end
  end
  redis.call('ZADD', key, whole(at + ttl), slot)
  -- Of crashed processes, while the set is never full.
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(at - stale))
  keep_for(key, ttl + grace)
  return 1
end

-- KEYS: the set. ARGV: slot.
function methods.leave(keys, args)
  redis.call('ZREM', KEYS[keys + 1], ARGV[args + 1])
  return 0
end
`

/** The processes that use the stores, a sorted set of their ids by expiry, and a probe that writes. */
export const luaProcesses = `
-- KEYS: the set. ARGV: id of the process, milliseconds. Returns how many there are.
function methods.here(keys, args, at)
  local key, ttl = KEYS[keys + 1], tonumber(ARGV[args + 2])
  redis.call('ZADD', key, whole(at + ttl), ARGV[args + 1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(at))
  redis.call('PEXPIRE', key, whole(ttl))
  return redis.call('ZCARD', key)
end

-- KEYS: any.
function methods.probe(keys)
  redis.call('SET', KEYS[keys + 1], '1', 'PX', 1000)
  return 0
end
`

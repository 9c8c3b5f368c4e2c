/**
 * Routing state in Lua. Statistics and pauses are entries of one hash, with rank, expiry and JSON; a sorted set has the order in which they
 * changed. An entry of a higher rank replaces one of a lower rank, as `newerStatistics` does for statistics. Readers of a conversation are
 * a hash by offer, from which \`mergeReaders\` chooses.
 */
export const luaRouting = `
local function rank_of(entry)
  local major, minor, ends = string.match(entry, '^(%-?%d+) (%-?%d+) (%-?%d+) ')
  return tonumber(major), tonumber(minor), tonumber(ends)
end

-- KEYS: entries, their order, the sequence. ARGV: how many are kept, an id for a new sequence, milliseconds to keep them; then of each
-- entry its name, major rank, minor rank, end and JSON.
function methods.publish(keys, args, at, count)
  local entries, order, sequence = KEYS[keys + 1], KEYS[keys + 2], KEYS[keys + 3]
  redis.call('HSETNX', sequence, 'id', ARGV[args + 2])
  for place = 0, count - 1 do
    local first = args + 3 + 5 * place
    local name, major, minor = ARGV[first + 1], tonumber(ARGV[first + 2]), tonumber(ARGV[first + 3])
    local before = redis.call('HGET', entries, name)
    local known_major, known_minor = rank_of(before or '')
    if not known_major or major > known_major or (major == known_major and minor > known_minor) then
      redis.call('HSET', entries, name, table.concat({ ARGV[first + 2], ARGV[first + 3], ARGV[first + 4], ARGV[first + 5] }, ' '))
      redis.call('ZADD', order, redis.call('HINCRBY', sequence, 'last', 1), name)
    end
  end
  for _ = 1, 2 * count + 16 do
    local oldest = redis.call('ZRANGE', order, 0, 0)[1]
    if not oldest then break end
    local _, _, ends = rank_of(redis.call('HGET', entries, oldest) or '')
    if ends and ends > at and redis.call('ZCARD', order) <= tonumber(ARGV[args + 1]) then break end
    redis.call('ZREM', order, oldest)
    redis.call('HDEL', entries, oldest)
  end
  for place = 1, 3 do keep_for(KEYS[keys + place], tonumber(ARGV[args + 3]) + grace) end
  return 0
end

-- KEYS: as above. ARGV: the id of a sequence, and the place in it. Returns id and place to go on from, then the entries that changed.
function methods.news(keys, args)
  local known = redis.call('HMGET', KEYS[keys + 3], 'id', 'last')
  local id, last = known[1] or '', tonumber(known[2] or '0')
  local after = tonumber(ARGV[args + 2])
  if ARGV[args + 1] ~= id or not after or after > last then after = 0 end
  local answer = { id, whole(last) }
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[keys + 2], '(' .. whole(after), '+inf')) do
    answer[#answer + 1] = redis.call('HGET', KEYS[keys + 1], name)
  end
  return answer
end

-- KEYS: the readers of one conversation. ARGV: how many are kept, milliseconds to keep them; offer, tokens and time of the note.
function methods.remember(keys, args)
  local key, offer, tokens, read_at = KEYS[keys + 1], ARGV[args + 3], tonumber(ARGV[args + 4]), tonumber(ARGV[args + 5])
  local known_tokens, known_at = string.match(redis.call('HGET', key, offer) or '', '^(%d+) (%-?%d+)$')
  if not known_at or read_at > tonumber(known_at) or (read_at == tonumber(known_at) and tokens > tonumber(known_tokens)) then
    redis.call('HSET', key, offer, ARGV[args + 4] .. ' ' .. ARGV[args + 5])
  end
  local notes, times, kept = redis.call('HGETALL', key), {}, tonumber(ARGV[args + 1])
  for place = 2, #notes, 2 do times[#times + 1] = tonumber(string.match(notes[place], ' (%-?%d+)$')) end
  if #times > kept then
    table.sort(times, function(a, b) return a > b end)
    -- Older than the last that is kept, so no merge chooses it.
    for place = 2, #notes, 2 do
      if tonumber(string.match(notes[place], ' (%-?%d+)$')) < times[kept] then redis.call('HDEL', key, notes[place - 1]) end
    end
  end
  keep_for(key, tonumber(ARGV[args + 2]) + grace)
  return 0
end

-- KEYS: the readers of one conversation. Returns offer, tokens and time of each, flat.
function methods.readers(keys)
  return redis.call('HGETALL', KEYS[keys + 1])
end
`

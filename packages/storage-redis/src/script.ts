import { createHash } from 'node:crypto'
import { luaCounters, luaProcesses, luaSlots } from './lua/counters.ts'
import { luaRouting } from './lua/routing.ts'

// A single script runs a batch of calls in order: one function per method, one round trip for all. It is loaded as a script instead of a
// function library, because a script is named by its content, so that two versions of this package can share a server.

// The server's time counts, so that processes need not agree on theirs. A command whose connection broke may have run, so it fails and is not
// sent again: a limit may be counted once too often, never once too little.

/** A call of a method of the script. */
export interface ScriptCall {
  readonly method: 'take' | 'add' | 'enter' | 'leave' | 'here' | 'probe' | 'publish' | 'news' | 'remember' | 'readers'
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
  /** Unix milliseconds, used if the server's clock is not. */
  readonly at: number
  /** Number of counters or entries. Default: 1. */
  readonly count?: number
}

/** The result of a script call. */
export type ScriptReply = number | string | readonly (number | string)[]

/** Milliseconds after which slots of crashed processes are removed from a set that is never full. */
const staleSlotMs = 600_000
/** Milliseconds that entries outlast their windows if the caller's clock decides, because it may be behind the server's. */
const callerGraceMs = 600_000

/**
 * ARGV: the clock (`server` or `caller`), then for each call: method, time, count, number of keys, number of arguments, and these. Returns
 * the results, and the errors as pairs of index and message: a failed call does not stop the others.
 */
export const scriptSource = `
local methods = {}
local grace = ARGV[1] == 'caller' and ${callerGraceMs} or 0
local stale = ${staleSlotMs}
${luaCounters}${luaSlots}${luaProcesses}${luaRouting}
local now
if ARGV[1] == 'server' then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local results, errors = {}, {}
local keys, args, place = 0, 1, 0
while args < #ARGV do
  place = place + 1
  local method, at, count = methods[ARGV[args + 1]], now or tonumber(ARGV[args + 2]), tonumber(ARGV[args + 3])
  local done, result = pcall(method, keys, args + 5, at, count)
  results[place] = done and result or 0
  if not done then
    errors[#errors + 1] = place
    errors[#errors + 1] = type(result) == 'table' and (result.err or 'unknown error') or tostring(result)
  end
  keys, args = keys + tonumber(ARGV[args + 4]), args + 5 + tonumber(ARGV[args + 5])
end
return { results, errors }
`

/** The name under which Redis caches the script. */
export const scriptSha: string = createHash('sha1').update(scriptSource).digest('hex')

/** The keys and arguments of a batch, for EVALSHA. `[...scriptInput([call], 'server').args]` */
export function scriptInput(
  calls: readonly ScriptCall[],
  clock: 'server' | 'caller',
): { readonly keys: string[]; readonly args: string[] } {
  const keys: string[] = []
  const args: string[] = [clock]
  for (const call of calls) {
    keys.push(...call.keys)
    args.push(call.method, String(call.at), String(call.count ?? 1), String(call.keys.length), String(call.args.length))
    for (const arg of call.args) args.push(String(arg))
  }
  return { keys, args }
}

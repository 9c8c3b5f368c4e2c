/** Upper bounds of figures, by name. */
export type Ceilings = Readonly<Record<string, number>>

/** What a request creates and calls. These are exact: they are the same on every machine, under every load. */
export const countCeilings: Ceilings = {
  'whole: promises': 12,
  'whole: timers': 1,
  'whole: JSON.parse': 2,
  'whole: JSON.stringify': 2,
  'whole: clock reads': 20,
  'whole from chat: promises': 12,
  'whole from chat: timers': 1,
  'whole from chat: JSON.parse': 2,
  'whole from chat: JSON.stringify': 2,
  'whole from chat: clock reads': 20,
  'stream of 50: promises': 12,
  'stream of 50: timers': 2,
  'stream of 50: JSON.parse': 11,
  'stream of 50: JSON.stringify': 11,
  'stream of 50: clock reads': 75,
  'delta: promises': 0,
  'delta: timers': 0,
  'delta: JSON.parse': 0,
  'delta: JSON.stringify': 0,
  'delta: clock reads': 1,
  'delta from chat: promises': 0,
  'delta from chat: timers': 0,
  'delta from chat: JSON.parse': 0,
  'delta from chat: JSON.stringify': 0,
  'delta from chat: clock reads': 1,
  'whole over sockets: promises': 14,
  'whole over sockets: timers': 2,
  'whole over sockets: JSON.parse': 2,
  'whole over sockets: JSON.stringify': 2,
  // One of them tells a connection that was closed while idle from one that broke later.
  'whole over sockets: clock reads': 21,
  'delta over sockets: promises': 0,
  'delta over sockets: timers': 0,
}

/** Bytes of the heap, 3 to 12 % above what was observed, because they vary with the machine and its load. */
export const byteCeilings: Ceilings = {
  'whole: bytes': 92_000,
  // Of these, 1,200 are the response item, which can be referred to for an hour.
  'whole: bytes kept': 4_500,
  'whole from chat: bytes': 106_000,
  'stream of 50: bytes': 192_000,
  'stream of 50: bytes kept': 6_500,
  'delta: bytes': 950,
  'delta from chat: bytes': 1_060,
  'whole over sockets: bytes kept': 9_200,
  'stream of 50 over sockets: bytes kept': 12_000,
  'open stream: bytes at 100 deltas': 43_000,
  // Of these, 19,500 are the text, which the last events repeat.
  'open stream: bytes that 3,900 more deltas add': 23_000,
}

/**
 * How much code runs per request. Item references, checks of content that a dialect cannot express, names of what a response loses, and
 * bounded storage waits take 5 files, 15 functions and 30 calls of it; fields that name what a provider stores, tools without a price, several
 * keys of a provider, and counts of usage that are not read take 6 files, 44 functions and 82 calls; shares of workspaces in kept items, and
 * allowed models, take 2 files, 8 functions and 14 calls.
 */
export const walkCeilings: Ceilings = {
  'whole: files': 163,
  'whole: functions': 700,
  'whole: calls': 1_195,
  'streamed: files': 180,
  'streamed: functions': 880,
  'streamed: calls': 1_840,
  'delta: files': 24,
  'delta: functions': 49,
  'delta: calls': 53,
}

/** `figure: problem`, for every figure above its ceiling, or without one. */
export function offences(figures: Readonly<Record<string, number>>, ceilings: Ceilings): readonly string[] {
  const names = new Set([...Object.keys(figures), ...Object.keys(ceilings)])
  return [...names].flatMap(name => {
    const [figure, ceiling] = [figures[name], ceilings[name]]
    if (figure === undefined) return [`${name}: is no longer measured`]
    if (ceiling === undefined) return [`${name}: ${figure} has no ceiling`]
    return figure > ceiling ? [`${name}: ${figure} is above ${ceiling}`] : []
  })
}

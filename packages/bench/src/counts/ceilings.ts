/** An upper bound of a figure. */
export interface Ceiling {
  /** The current value. A figure far below it fails as well, so that no improvement is lost again. */
  readonly ceiling: number
  /** The intended value. Absent: the ceiling is the goal. */
  readonly goal?: number
}

/**
 * The ceilings of the cost of requests, by figure. Bytes are of the heap; those of a ceiling are 3 to 10 % above what was observed, because
 * they vary with the machine and its load.
 */
export const ceilings: Readonly<Record<string, Ceiling>> = {
  'whole: promises': { ceiling: 12, goal: 25 },
  'whole: timers': { ceiling: 1, goal: 2 },
  'whole: JSON.parse': { ceiling: 2 },
  'whole: JSON.stringify': { ceiling: 2 },
  'whole: clock reads': { ceiling: 20 },
  'whole: bytes': { ceiling: 73_500, goal: 60_000 },
  // Of these, 1,200 are the response item, which can be referred to for an hour.
  'whole: bytes kept': { ceiling: 4_500 },
  'whole from chat: promises': { ceiling: 12, goal: 25 },
  'whole from chat: timers': { ceiling: 1, goal: 2 },
  'whole from chat: JSON.parse': { ceiling: 2 },
  'whole from chat: JSON.stringify': { ceiling: 2 },
  'whole from chat: clock reads': { ceiling: 20 },
  'whole from chat: bytes': { ceiling: 88_500, goal: 60_000 },
  'stream of 50: promises': { ceiling: 12, goal: 25 },
  'stream of 50: timers': { ceiling: 2, goal: 2 },
  'stream of 50: JSON.parse': { ceiling: 11 },
  'stream of 50: JSON.stringify': { ceiling: 11 },
  'stream of 50: clock reads': { ceiling: 75, goal: 75 },
  'stream of 50: bytes': { ceiling: 163_500, goal: 120_000 },
  'stream of 50: bytes kept': { ceiling: 6_500 },
  'delta: promises': { ceiling: 0, goal: 0 },
  'delta: timers': { ceiling: 0 },
  'delta: JSON.parse': { ceiling: 0 },
  'delta: JSON.stringify': { ceiling: 0 },
  'delta: clock reads': { ceiling: 1, goal: 1 },
  'delta: bytes': { ceiling: 900 },
  'delta from chat: promises': { ceiling: 0, goal: 0 },
  'delta from chat: timers': { ceiling: 0 },
  'delta from chat: JSON.parse': { ceiling: 0 },
  'delta from chat: JSON.stringify': { ceiling: 0 },
  'delta from chat: clock reads': { ceiling: 1, goal: 1 },
  'delta from chat: bytes': { ceiling: 1_000 },
  'whole over sockets: promises': { ceiling: 14, goal: 25 },
  'whole over sockets: timers': { ceiling: 2, goal: 2 },
  'whole over sockets: JSON.parse': { ceiling: 2 },
  'whole over sockets: JSON.stringify': { ceiling: 2 },
  // One of them tells a connection that was closed while idle from one that broke later.
  'whole over sockets: clock reads': { ceiling: 21 },
  'delta over sockets: promises': { ceiling: 0, goal: 0 },
  'delta over sockets: timers': { ceiling: 0 },
  'whole over sockets: bytes kept': { ceiling: 9_200 },
  'stream of 50 over sockets: bytes kept': { ceiling: 12_000 },
  'open stream: heap at 100 deltas': { ceiling: 40_000 },
  // Of these, 19,500 are the text, which the last events repeat.
  'open stream: heap that 3,900 more deltas add': { ceiling: 23_000, goal: 1_000 },
}

/**
 * The ceilings of how much code runs per request. Item references, checks of content that a dialect cannot express, names of what a
 * response loses, and bounded storage waits take 5 files, 15 functions and 30 calls of it.
 */
export const walkCeilings: Readonly<Record<string, Ceiling>> = {
  'whole: files': { ceiling: 153, goal: 85 },
  'whole: functions': { ceiling: 647, goal: 350 },
  'whole: calls': { ceiling: 1_085, goal: 500 },
  'streamed: files': { ceiling: 173, goal: 90 },
  'streamed: functions': { ceiling: 838, goal: 400 },
  'streamed: calls': { ceiling: 1_755, goal: 600 },
  'delta: files': { ceiling: 24, goal: 15 },
  'delta: functions': { ceiling: 49, goal: 40 },
  'delta: calls': { ceiling: 53, goal: 45 },
}

/** The share of a ceiling below which a figure is an improvement that the table must record. */
const slack = 0.85

/** `figure: problem`, for every figure above its ceiling, far below it, or without one. */
export function offences(figures: Readonly<Record<string, number>>, table = ceilings): readonly string[] {
  const names = new Set([...Object.keys(figures), ...Object.keys(table)])
  return [...names].flatMap(name => {
    const [figure, row] = [figures[name], table[name]]
    if (figure === undefined) return [`${name}: is no longer measured`]
    if (row === undefined) return [`${name}: ${figure} has no ceiling`]
    if (figure > row.ceiling) return [`${name}: ${figure} is above ${row.ceiling}`]
    const needed = Math.max(row.ceiling * slack, row.goal ?? row.ceiling)
    return row.goal !== undefined && row.ceiling > row.goal && figure < needed
      ? [`${name}: ${figure}, so lower the ceiling of ${row.ceiling}`]
      : []
  })
}

import type { Why } from './port.ts'
import type { Ended, StrategyName } from './record.ts'

// These numbers stand in traces that were kept: new ones may be added, and none may change.
export const strategyCodes = {
  balanced: 0,
  cost: 1,
  latency: 2,
  throughput: 3,
  availability: 4,
  worth: 100,
  own: 101,
} as const satisfies Readonly<Record<StrategyName, number>>
export const whyCodes = { best: 0, probe: 1, fallback: 2, last_resort: 3 } as const satisfies Readonly<Record<Why, number>>
export const endedCodes = {
  ok: 1,
  error: 2,
  timeout: 3,
  rate_limited: 4,
  credential: 5,
  refused: 6,
  left: 7,
  broken: 8,
} as const satisfies Readonly<Record<Ended, number>>

const inverse = <Name extends string>(codes: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> =>
  new Map((Object.keys(codes) as Name[]).map(name => [codes[name], name]))

export const strategyNames = inverse(strategyCodes)
export const whys = inverse(whyCodes)
export const endings = inverse(endedCodes)

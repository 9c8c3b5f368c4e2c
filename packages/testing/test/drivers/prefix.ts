import type { JsonObject } from '@signalbox/dialects/protocol'

/** The share of a body, but for the brackets that close it, that the next one begins with. */
function sharedPrefix(body: string, next: string): number {
  const open = body.replace(/["\]}]+$/, '')
  let at = 0
  while (at < open.length && open[at] === next[at]) at += 1
  return at / open.length
}

/** For each of the bodies but the last: whether the next one begins with 99 % of it, or else with how much. */
export function repeatedPrefixes(calls: readonly { readonly body: JsonObject }[]): readonly (true | number)[] {
  return sharedPrefixes(calls).map(share => share >= 0.99 || share)
}

/** For each of the bodies but the last: the share of it that the next one begins with. */
export function sharedPrefixes(calls: readonly { readonly body: JsonObject }[]): readonly number[] {
  const bodies = calls.map(({ body }) => JSON.stringify(body))
  return bodies.slice(1).map((next, at) => sharedPrefix(bodies[at] ?? '', next))
}

import type { Candidate } from './plan.ts'

/** What of a request stands above any strategy. Each row weighs more than all below it; lower numbers go first. */
export interface Claims {
  /** Provider ids that the caller wants asked first, in this order. */
  readonly order?: readonly string[] | undefined
  /** What the caller asked for beside an order, as a number. */
  readonly wish: (candidate: Candidate) => number
  /** Where in the conversation the candidate's own reasoning state stands last; nothing where it made none. */
  readonly lastMade?: ((candidate: Candidate) => number | undefined) | undefined
  /** The order in which they are given counts. */
  readonly asGiven: boolean
}

/**
 * A number for each candidate, in their order: 0, 1, 2… for those who go first, second, third, the same for those among whom
 * only the strategy decides. Nothing where it decides among all.
 */
export function ranksOf(candidates: readonly Candidate[], { order, wish, lastMade, asGiven }: Claims): readonly number[] | undefined {
  if (candidates.length < 2) return undefined
  const rows = [
    ...(order ? [candidates.map(({ provider }) => placeIn(order, provider.id))] : []),
    candidates.map(wish),
    // Who made reasoning state of the conversation can be given it back, and who made the last of it goes on best.
    ...(lastMade ? [candidates.map(candidate => -(lastMade(candidate) ?? -1))] : []),
    ...(asGiven ? [candidates.map((_, at) => at)] : []),
  ].filter(row => row.some(number => number !== row[0]))
  return rows.length === 0 ? undefined : dense(rows, candidates.length)
}

const placeIn = (order: readonly string[], id: string): number => {
  const at = order.indexOf(id)
  return at === -1 ? order.length : at
}

/** Places instead of numbers: how far apart two claims are means nothing. */
function dense(rows: readonly (readonly number[])[], length: number): readonly number[] {
  const before = (a: number, b: number): number => {
    for (const row of rows) if (row[a] !== row[b]) return (row[a] as number) - (row[b] as number)
    return 0
  }
  const sorted = Array.from({ length }, (_, at) => at).sort(before)
  const ranks: number[] = new Array(length).fill(0)
  let rank = 0
  sorted.forEach((at, place) => {
    const last = sorted[place - 1]
    if (last !== undefined && before(last, at) !== 0) rank += 1
    ranks[at] = rank
  })
  return ranks
}

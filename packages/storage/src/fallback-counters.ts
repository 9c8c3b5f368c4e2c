import { type Awaitable, allSettled, andThen } from './awaitable.ts'
import type { CounterRequest, CounterStore, SlotRequest } from './counters.ts'
import { EphemeralError, type KnownCounter } from './ephemeral.ts'
import type { OutageGuard } from './outage-policy.ts'

export interface FallbackCountersOptions {
  readonly guard: OutageGuard
  readonly primary: CounterStore
  readonly fallback: CounterStore
  /** The last known state of a counter of the primary store. Default: unknown. */
  readonly known?: (key: string) => KnownCounter | undefined
}

/** Counters with a fallback for outages. */
export interface FallbackCounters extends CounterStore {
  /** Frees a slot in the fallback only; the primary slot is freed elsewhere. */
  leaveFallback(key: string, slot: string): Awaitable<void>
  /** Applies what happened during the outage to the primary store. Rejects if it cannot. */
  repair(): Promise<void>
}

interface OutageNotes {
  /** What counters of the fallback admitted, by key. */
  readonly counted: Map<string, WindowAmount>
  /** Slots taken in the fallback, by `slotName`. */
  readonly entered: Map<string, SlotRequest & { readonly at: number }>
  /** Slots that were not yet freed in the primary store. */
  readonly left: Map<string, Pick<SlotRequest, 'key' | 'slot'>>
}

interface CountedAmount {
  readonly key: string
  readonly amount: number
  /** Milliseconds. Undefined if there were only corrections. */
  readonly windowMs: number | undefined
  readonly at: number
}

/** The amount of one window. */
interface WindowAmount extends CountedAmount {
  /** Start of the window in monotonic milliseconds. */
  readonly since: number
}

const repairsAtOnce = 500
/** Slots remembered during an outage. Older ones expire. */
const maxRepeatedSlots = 20_000

/**
 * Counts in the primary store, and during an outage in the fallback. A fallback counter starts with what is left of its limit according to
 * the last known state of the primary store, and what it admits is counted there afterwards. So a limit can only be exceeded by what other
 * processes took since this process's last known state, and once more by its whole size if the primary store loses its memory.
 */
export function fallbackCounters({ guard, primary, fallback, known = () => undefined }: FallbackCountersOptions): FallbackCounters {
  const notes: OutageNotes = { counted: new Map(), entered: new Map(), left: new Map() }
  return {
    take: (requests, at) =>
      guard.run(
        'counters.take',
        () => primary.take(requests, at),
        () => takeFallback(requests, at, { fallback, known, notes }),
      ),
    add: (key, amount, at) =>
      guard.run(
        'counters.add',
        () => primary.add(key, amount, at),
        () => {
          count(notes.counted, { key, amount, windowMs: undefined, at })
          return fallback.add(key, amount, at)
        },
      ),
    enter: (request, at) =>
      guard.run(
        'counters.enter',
        () => primary.enter(request, at),
        () => enterFallback(request, at, { fallback, notes }),
      ),
    leave(key, slot) {
      const name = slotName(key, slot)
      const leavePrimary = (): Awaitable<void> =>
        guard.run(
          'counters.leave',
          () => primary.leave(key, slot),
          () => note(notes.left, name, { key, slot }),
        )
      if (!notes.entered.delete(name)) return leavePrimary()
      return andThen(allSettled([leavePrimary, () => fallback.leave(key, slot)]), () => undefined)
    },
    leaveFallback: (key, slot) => (notes.entered.delete(slotName(key, slot)) ? fallback.leave(key, slot) : undefined),
    async repair() {
      await inParts([...notes.counted.values()], async counted => {
        notes.counted.delete(counted.key)
        if (isWindowOver(counted)) return
        try {
          await countPrimary(primary, counted)
        } catch (error) {
          count(notes.counted, counted)
          throw error
        }
      })
      // Regardless of the limit, because the requests are running. A slot that was left in the meantime must not be entered again.
      await inParts([...notes.entered], async ([name, slot]) => {
        if (notes.entered.has(name)) await primary.enter({ ...slot, limit: Number.MAX_SAFE_INTEGER }, slot.at)
      })
      await inParts([...notes.left], async ([name, { key, slot }]) => {
        await primary.leave(key, slot)
        notes.left.delete(name)
      })
    },
  }
}

/** An admitted amount starts a window if there is none. */
function countPrimary(primary: CounterStore, { key, amount, windowMs, at }: CountedAmount): Awaitable<unknown> {
  if (amount < 0 || windowMs === undefined) return primary.add(key, amount, at)
  return primary.take([{ key, amount, limit: Number.MAX_SAFE_INTEGER, windowMs }], at)
}

/** Adds to the amount to be counted in the primary store later. What was admitted in a window that is over no longer counts. */
function count(counted: OutageNotes['counted'], { key, amount, windowMs, at, since }: CountedAmount & Partial<WindowAmount>): void {
  const noted = counted.get(key)
  const before = noted && !isWindowOver(noted) ? noted : undefined
  const window = windowMs ?? before?.windowMs
  const sum = amount + (before?.amount ?? 0)
  const latest = Math.max(at, before?.at ?? at)
  const began = before?.since ?? since ?? performance.now()
  note(counted, key, { key, amount: sum, at: latest, since: began, windowMs: window })
}

const isWindowOver = ({ since, windowMs = Number.POSITIVE_INFINITY }: WindowAmount): boolean => performance.now() - since >= windowMs

function takeFallback(
  requests: readonly CounterRequest[],
  at: number,
  { fallback, known, notes }: Required<Pick<FallbackCountersOptions, 'fallback' | 'known'>> & { readonly notes: OutageNotes },
) {
  const left = requests.map(request => ({ ...request, limit: Math.max(0, request.limit - (known(request.key)?.used ?? 0)) }))
  return andThen(fallback.take(left, at), refusal => {
    if (refusal) return { ...refusal, retryAfterMs: Math.min(refusal.retryAfterMs, known(refusal.key)?.leftMs ?? refusal.retryAfterMs) }
    for (const { key, amount, windowMs } of requests) count(notes.counted, { key, amount, windowMs, at })
    return undefined
  })
}

/** Repairs all rows except those with damaged entries: a single one must not keep the whole store unusable. */
async function inParts<Row>(rows: readonly Row[], repair: (row: Row) => Promise<void>): Promise<void> {
  const repaired = (row: Row): Promise<void> =>
    repair(row).catch((error: unknown) => {
      if (!(error instanceof EphemeralError && error.failure === 'damaged')) throw error
    })
  for (let from = 0; from < rows.length; from += repairsAtOnce) await Promise.all(rows.slice(from, from + repairsAtOnce).map(repaired))
}

function enterFallback(
  request: SlotRequest,
  at: number,
  { fallback, notes }: Pick<FallbackCountersOptions, 'fallback'> & { readonly notes: OutageNotes },
) {
  const name = slotName(request.key, request.slot)
  notes.left.delete(name)
  return andThen(fallback.enter(request, at), isIn => {
    if (isIn) note(notes.entered, name, { ...request, at })
    return isIn
  })
}

const slotName = (key: string, slot: string): string => `${key.length} ${key}${slot}`

function note<Row>(rows: Map<string, Row>, name: string, row: Row): void {
  rows.delete(name)
  rows.set(name, row)
  if (rows.size <= maxRepeatedSlots) return
  const [oldest] = rows.keys()
  if (oldest !== undefined) rows.delete(oldest)
}

/**
 * Wraps the counters of one of several processes that cannot reach each other, so that each admits its share of a limit. A limit smaller
 * than the number of processes admits one in each, and a single amount within the limit is admitted once per window, because a gateway that
 * refused everything would be an outage.
 *
 * @example
 * const counters = sharedOut(memoryStorage().counters, () => 4) // a limit of 60 becomes 15
 */
export function sharedOut(counters: CounterStore, processes: () => number): CounterStore {
  const shareOf = (limit: number, amount: number): number =>
    amount > limit ? limit : Math.max(amount, Math.floor(limit / Math.max(1, processes())))
  const share = (request: CounterRequest): CounterRequest => ({ ...request, limit: shareOf(request.limit, request.amount) })
  return {
    take: (requests, at) => counters.take(requests.map(share), at),
    add: (key, amount, at) => counters.add(key, amount, at),
    enter: (request, at) => counters.enter({ ...request, limit: shareOf(request.limit, 1) }, at),
    leave: (key, slot) => counters.leave(key, slot),
  }
}

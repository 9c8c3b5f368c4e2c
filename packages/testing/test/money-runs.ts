import { setTimeout } from 'node:timers/promises'
import { chatProvider } from '@signalbox/dialects'
import type { InferenceEvent } from '@signalbox/dialects/protocol'
import { type Caller, createGateway, type Gateway, type GatewayOptions } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import fc from 'fast-check'
import type { ReplyContext } from '../src/answers/index.ts'
import type { Act } from '../src/index.ts'
import { acts, type FakeClock, fakeClock, type ScriptedProvider, scriptedProvider } from '../src/index.ts'

// Random runs of a gateway whose providers report false usage, whose streams end in every way or not at all, and whose clients
// leave when they like; and what must be true of its books whatever happened. New moves go into `moves` and `play`.

/** The usage that a provider reports for a response of so many words. */
const claims = {
  honest: words => ({ input: 12, output: words }),
  hidden: words => ({ input: 12, output: words * 101, reasoning: words * 100 }),
  huge: () => ({ input: 9_900_000, output: 9_900_000 }),
  vast: () => ({ input: 1e15, output: 1e15 }),
  infinite: () => ({ input: Number.POSITIVE_INFINITY, output: Number.NaN }),
  negative: () => ({ input: -1_000_000, output: -5 }),
  text: () => ({ input: 'many' as unknown as number, output: '99999999' as unknown as number }),
  cached: () => ({ input: 5, output: 5, cached: 1_000_000 }),
  missing: () => 'none' as const,
} satisfies Record<string, (words: number) => { input: number; output: number; cached?: number; reasoning?: number } | 'none'>

type Claim = keyof typeof claims

/** How an answer comes, and ends. */
const forms = {
  right: () => acts.reply(),
  late: () => acts.stall(30_000),
  endless: () => endless,
  broken: (count: number) => acts.breakAfter(count),
  cut: (count: number) => acts.endAfter(count),
  silent: (count: number) => acts.pauseAfter(count, 3_000_000),
  paused: (count: number) => acts.pauseAfter(count, 3_000),
  failing: (count: number) => acts.errorAfter(count),
  refusing: () => acts.status(500),
  never: () => acts.never(),
} satisfies Record<string, (count: number) => Act>

type Form = keyof typeof forms

const endless: Act = async ({ signal, writer, answer }) => ({
  status: 200,
  frames: (async function* () {
    yield answer.opening
    const more = [writer.textFrame('on and on '.repeat(100), { model: 'm', includeUsage: true })]
    for (let at = 0; !signal.aborted && at < 1_000; at++) yield more
  })(),
})

interface Ask {
  readonly move: 'ask'
  readonly stream: boolean
  readonly cap: number | undefined
  readonly input: string
  readonly words: number
  readonly claim: Claim
  readonly form: Form
  /** Content events before the form does what it does. */
  readonly count: number
  /** Characters that the client reads before it disconnects. Absent: it reads to the end. */
  readonly reads: number | undefined
  readonly fallbacks: boolean
}

type Move =
  | Ask
  | { readonly move: 'wait'; readonly milliseconds: number }
  | { readonly move: 'credit'; readonly amount: number }
  /** The wall clock is set; running requests continue. */
  | { readonly move: 'jump'; readonly milliseconds: number }
  /** The process is gone with all that it had under way, and another one begins. */
  | { readonly move: 'crash' }

export interface Run {
  readonly credit: number
  /** Microdollars. Absent: there is none. */
  readonly budget: number | undefined
  readonly outputPrice: number
  readonly moves: readonly Move[]
}

const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })

const asks: fc.Arbitrary<Ask> = fc.record({
  move: fc.constant('ask'),
  stream: fc.boolean(),
  cap: some(fc.integer({ min: 16, max: 3_000 })),
  input: fc.constantFrom('Hi', '好'.repeat(300), 'x1Y2'.repeat(200), '😀'.repeat(50)),
  words: fc.integer({ min: 1, max: 60 }),
  claim: fc.constantFrom(...(Object.keys(claims) as Claim[])),
  form: fc.constantFrom('right', 'right', ...(Object.keys(forms) as Form[])),
  count: fc.integer({ min: 0, max: 20 }),
  reads: some(fc.integer({ min: 1, max: 400 })),
  fallbacks: fc.boolean(),
})

const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: asks },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('wait'), milliseconds: fc.integer({ min: 1, max: 40_000 }) }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('credit'), amount: fc.integer({ min: 1, max: 5_000_000 }) }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('jump'), milliseconds: fc.constantFrom(-3_600_000, -60_000, 60_000, 3_600_000) }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('crash') }) },
)

export const runs: fc.Arbitrary<Run> = fc.record({
  credit: fc.integer({ min: 1, max: 20_000_000 }),
  budget: some(fc.integer({ min: 1, max: 10_000_000 })),
  outputPrice: fc.constantFrom(2_000_000, 1_000_000_000),
  moves: fc.array(moves, { minLength: 1, maxLength: 14 }),
})

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export interface Played {
  readonly clock: FakeClock
  readonly storage: Storage
  readonly keyId: string
  readonly budgetId: string | undefined
  readonly topUps: number
  readonly hasCrashed: boolean
  /** The code of each request, or `ok`, or `left` if its client disconnected. */
  readonly outcomes: readonly string[]
}

/** Plays a run to its end. The storage stays open. */
export async function play(run: Run, storage: Storage): Promise<Played> {
  const clock = fakeClock()
  const providers = ['one', 'two'].map(id => scriptedProvider({ id, dialect: chatProvider, clock }))
  const price = { input: 1_000_000, output: run.outputPrice }
  const models = [
    {
      id: 'model',
      offers: providers.map(({ id }) => ({ provider: id, model: 'm', api: 'chat', price, contextWindow: 200_000 })),
    },
  ]
  const options = { providers, models, clock, limits: plenty, timeouts, logger: quiet, strategy: 'order', seed: 1 }
  let process = begin(storage, options)
  await process.gateway.workspaces.create({ id: 'w', name: 'W', billing: 'prepaid' })
  const home = () => process.gateway.workspaces('w')
  await home().billing.credit({ reference: 'start', amount: run.credit })
  const { secret, id: keyId } = await home().apiKeys.create({ name: 'k', scopes: '*' })
  let caller = await process.gateway.authenticate(secret)
  const limit = run.budget
  const budget = limit === undefined ? undefined : await home().budgets.create({ name: 'b', period: 'total', limit, enforce: true })
  const answers: Promise<string>[] = []
  let topUps = run.credit
  for (const [at, move] of run.moves.entries()) {
    if (move.move === 'ask') answers.push(Promise.race([ask(process.gateway, caller, { move, providers }), process.gone]))
    else if (move.move === 'wait') await clock.advance(move.milliseconds)
    else if (move.move === 'jump') clock.jump(move.milliseconds)
    else if (move.move === 'credit') {
      topUps += move.amount
      await home().billing.credit({ reference: `more ${at}`, amount: move.amount })
    } else {
      process.crash()
      process = begin(storage, options)
      caller = await process.gateway.authenticate(secret)
    }
  }
  const outcomes = await inTime(clock, Promise.all(answers), 'The requests are not over.')
  // The holds of an ended process are collected after a while, once another is used; abandoned responses are drained.
  await process.gateway.health()
  for (let turn = 0; turn < 20; turn++) await clock.advance(10_000)
  await inTime(clock, process.gateway.close(), 'The gateway does not close.')
  return { clock, storage, keyId, budgetId: budget?.id, topUps, hasCrashed: run.moves.some(({ move }) => move === 'crash'), outcomes }
}

const plenty = { inferenceRpm: 1e6, concurrentRequests: 1_000 }
const timeouts = { firstByteMs: 20_000, wholeMs: 40_000, idleMs: 20_000, deadlineMs: 90_000 }

interface Process {
  readonly gateway: Gateway
  /** From now on none of its calls reach the store, and no result returns. */
  crash(): void
  /** Resolves to `crashed`. */
  readonly gone: Promise<string>
}

/** A gateway over a storage that outlives it. */
function begin(storage: Storage, options: Omit<GatewayOptions, 'storage'>): Process {
  let isGone = false
  let crash = (): void => {}
  const gone = new Promise<string>(resolve => {
    crash = () => {
      isGone = true
      resolve('crashed')
    }
  })
  const mortal = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, field) {
        const verb: unknown = Reflect.get(target, field)
        if (typeof verb !== 'function') return verb
        return (...args: readonly unknown[]) => (isGone ? new Promise(() => {}) : Reflect.apply(verb, target, args))
      },
    })
  const { counters, ledger, usage, records, audit, settle } = storage
  const parts = {
    ...mortal({ settle }),
    counters: mortal(counters),
    ledger: mortal(ledger),
    usage: mortal(usage),
    records: mortal(records),
    audit: mortal(audit),
  }
  // The storage is the caller's: it looks into it when all is over.
  const gateway = createGateway({ ...options, storage: { ...storage, ...parts, close: async () => {} } })
  return { gateway, crash: () => crash(), gone }
}

/** Lets time pass until it is done: five minutes of the clock, and some seconds of this machine, whose ciphers have threads of their own. */
async function inTime<T>(clock: FakeClock, work: Promise<T>, otherwise: string): Promise<T> {
  let isOpen = true
  const done = work.finally(() => {
    isOpen = false
  })
  for (let turn = 0; isOpen && turn < 60; turn++) await clock.advance(5_000)
  for (let turn = 0; isOpen && turn < 1_000; turn++) {
    await setTimeout(5)
    await clock.advance(1_000)
  }
  if (isOpen) throw new Error(otherwise)
  return done
}

interface Asking {
  readonly move: Ask
  readonly providers: readonly ScriptedProvider[]
}

async function ask(gateway: Gateway, caller: Caller, { move, providers }: Asking): Promise<string> {
  for (const provider of providers) provider.play(actOf(move))
  const request = gateway.dialects.responses?.decodeRequest(
    {
      model: 'model',
      input: move.input,
      stream: move.stream,
      gateway: { routing: { allow_fallbacks: move.fallbacks } },
      ...(move.cap !== undefined && { max_output_tokens: move.cap }),
    },
    () => undefined,
  )
  if (!request) throw new Error('The gateway speaks responses.')
  try {
    const reply = gateway.infer(request, { caller })
    if (!move.stream || move.reads === undefined) {
      await reply.whole()
      return 'ok'
    }
    const batches = reply.batches()
    let seen = 0
    while (seen < move.reads) {
      const step = await batches.next()
      if (step.done) return 'ok'
      for (const event of step.value) seen += charactersOf(event)
    }
    await batches.return?.()
    return 'left'
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error)
  }
}

const charactersOf = (event: InferenceEvent): number =>
  event.type === 'delta' && event.delta.kind === 'text' ? event.delta.text.length : 0

/** The form, with an answer of so many words and that claim. */
const actOf =
  ({ words, claim, form, count }: Ask): Act =>
  (context: ReplyContext) => {
    const speech = { text: 'word '.repeat(words), usage: claims[claim](words) }
    const told = context.writer.write(speech, { model: 'm', includeUsage: true })
    return forms[form](count)({ ...context, answer: told })
  }

const unrecorded: ReadonlySet<string> = new Set(['insufficient_credits', 'budget_exceeded', 'crashed'])

/** Descriptions of violated invariants; empty if there are none. */
export async function faultsIn({ clock, storage, keyId, budgetId, topUps, hasCrashed, outcomes }: Played): Promise<readonly string[]> {
  const faults: string[] = []
  const must = (holds: boolean, words: string): void => void (holds || faults.push(words))
  const { ledger, usage, counters } = storage
  const rows = await usage.list({ workspaceId: 'w', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10_000 })
  const spent = rows.reduce((sum, { cost }) => sum + cost, 0)
  const entries = await ledger.entries('credit:w', { limit: 10_000 })
  const { balance, held } = await ledger.balance('credit:w')
  must(
    entries.every(({ balanceAfter }) => balanceAfter >= 0),
    `The credit fell to ${Math.min(...entries.map(({ balanceAfter }) => balanceAfter))}.`,
  )
  must(entries.reduce((sum, { amount }) => sum + amount, 0) === balance, 'The entries of the credit are not its balance.')
  must(topUps - spent === balance, `The rows cost ${spent}, and ${topUps - balance} was paid.`)
  must(held === 0, `${held} is still held.`)
  must((await ledger.holds({ limit: 10 })).length === 0, 'Holds are left.')
  if (budgetId !== undefined) {
    const used = await ledger.balance(`budget:${budgetId}`)
    must(used.balance === -spent, `The budget was charged ${-used.balance} for ${spent}.`)
    must(used.held === 0, `${used.held} of the budget is still held.`)
  }
  must(new Set(rows.map(({ id }) => id)).size === rows.length, 'Two rows have one id.')
  // A request whose process is gone may not have been admitted yet; and where the store keeps no journals, what was read on is lost with it.
  const isLost = (outcome: string): boolean => outcome === 'left' && !storage.isShared && hasCrashed
  const refused = outcomes.filter(outcome => unrecorded.has(outcome) || isLost(outcome)).length
  must(
    rows.length <= outcomes.length && rows.length >= outcomes.length - refused,
    `${rows.length} rows for ${outcomes.length} requests, ${refused} refused.`,
  )
  must(
    rows.every(({ cost, inputTokens, outputTokens }) =>
      [cost, inputTokens, outputTokens].every(each => Number.isSafeInteger(each) && each >= 0),
    ),
    'A row has figures that cannot be.',
  )
  // A slot of a process that is gone may last until the clock has made up for being set back.
  must(await counters.enter({ key: `w/slots:${keyId}`, slot: 'later', limit: 1, ttlMs: 1 }, clock.now() + 7_200_000), 'A slot is taken.')
  return faults
}

import { isOfOneCall, isSentAgain, kindOfFailure, type PostgresVerb } from './failures.ts'

// Calls of one method that are made in the same turn of the event loop, or while its batches are running, share a statement. They share the
// cost of a round trip, and a row that all of them change is updated once.

/** Maximum calls in one batch. */
const MAX_BATCH = 512
/** Maximum concurrent batches of one method. */
const MAX_UNDER_WAY = 2
/** Maximum calls of one method that wait for a batch. */
const MAX_WAITING = 20_000
/** Milliseconds before a statement is retried. */
export const RETRY_AFTER_MS = 50

/** How the calls of a method become one statement. */
export interface BatchOptions<Call, Answer> {
  readonly verb: PostgresVerb
  /** Sends a batch and returns one result per call, in order. An error as a result fails only its call. */
  readonly send: (calls: readonly Call[]) => Promise<readonly (Answer | Error)[]>
  /** Calls with the same key never share a batch. */
  readonly keyOf?: (call: Call) => string
  /** Converts an error to the one that callers see. */
  readonly toError: (error: unknown) => Error
}

/** The batches of one verb. */
export interface Batches<Call, Answer> {
  add(call: Call): Promise<Answer>
  /** Resolves once no call is waiting or running. */
  idle(): Promise<void>
}

interface Job<Call, Answer> {
  readonly call: Call
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

interface BatchState<Call, Answer> {
  waiting: Job<Call, Answer>[]
  underWay: number
  isScheduled: boolean
  onIdle: (() => void)[]
}

/** Creates the batches of one verb. `createBatches({ verb: 'ledger.reserve', send, toError }).add(hold)` */
export function createBatches<Call, Answer>(options: BatchOptions<Call, Answer>): Batches<Call, Answer> {
  const state: BatchState<Call, Answer> = { waiting: [], underWay: 0, isScheduled: false, onIdle: [] }
  return {
    add: call =>
      new Promise((resolve, reject) => {
        if (state.waiting.length >= MAX_WAITING) {
          reject(new Error(`postgresStorage: ${options.verb}: ${MAX_WAITING} calls are waiting for the database. Try again later.`))
          return
        }
        state.waiting.push({ call, resolve, reject })
        schedule(state, options)
      }),
    idle: () => (isIdle(state) ? Promise.resolve() : new Promise(resolve => state.onIdle.push(resolve))),
  }
}

const isIdle = ({ waiting, underWay }: { readonly waiting: readonly unknown[]; readonly underWay: number }): boolean =>
  waiting.length === 0 && underWay === 0

function schedule<Call, Answer>(state: BatchState<Call, Answer>, options: BatchOptions<Call, Answer>): void {
  if (state.isScheduled || state.underWay >= MAX_UNDER_WAY) return
  state.isScheduled = true
  setImmediate(() => {
    state.isScheduled = false
    sendNext(state, options)
  })
}

function sendNext<Call, Answer>(state: BatchState<Call, Answer>, options: BatchOptions<Call, Answer>): void {
  if (state.waiting.length === 0 || state.underWay >= MAX_UNDER_WAY) return
  const batch = takeBatch(state, options.keyOf)
  state.underWay++
  // Never rejects: each call fails on its own.
  void sendBatch(batch, options, true).finally(() => {
    state.underWay--
    if (state.waiting.length > 0) schedule(state, options)
    else if (state.underWay === 0) for (const resolve of state.onIdle.splice(0)) resolve()
  })
  if (state.waiting.length > 0) schedule(state, options)
}

/** Takes the calls at the front, except those whose key is already in the batch. */
function takeBatch<Call, Answer>(state: BatchState<Call, Answer>, keyOf?: (call: Call) => string): readonly Job<Call, Answer>[] {
  if (!keyOf) return state.waiting.splice(0, MAX_BATCH)
  const keys = new Set<string>()
  const batch: Job<Call, Answer>[] = []
  const left: Job<Call, Answer>[] = []
  for (const job of state.waiting) {
    const key = batch.length < MAX_BATCH ? keyOf(job.call) : ''
    if (batch.length >= MAX_BATCH || keys.has(key)) left.push(job)
    else {
      keys.add(key)
      batch.push(job)
    }
  }
  state.waiting = left
  return batch
}

/** Sends a batch, retries it if that may help, and then splits it, so that a call that cannot succeed fails alone. */
async function sendBatch<Call, Answer>(
  batch: readonly Job<Call, Answer>[],
  options: BatchOptions<Call, Answer>,
  mayRetry: boolean,
): Promise<void> {
  try {
    const answers = await options.send(batch.map(({ call }) => call))
    batch.forEach(({ resolve, reject }, index) => {
      const answer = answers[index]
      if (answer instanceof Error) reject(answer)
      else resolve(answer as Answer)
    })
  } catch (error) {
    if (mayRetry && isSentAgain(options.verb, kindOfFailure(error))) {
      await new Promise(resolve => setTimeout(resolve, RETRY_AFTER_MS))
      return sendBatch(batch, options, false)
    }
    if (batch.length > 1 && isOfOneCall(error)) {
      const middle = batch.length >> 1
      await sendBatch(batch.slice(0, middle), options, true)
      return sendBatch(batch.slice(middle), options, true)
    }
    const failed = options.toError(error)
    for (const { reject } of batch) reject(failed)
  }
}

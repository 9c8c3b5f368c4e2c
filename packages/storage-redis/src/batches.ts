import { EphemeralError } from '@signalbox/storage/compose'
import type { ScriptCall, ScriptReply } from './script.ts'

// Calls made in the same turn of the event loop share a round trip, and calls that arrive while two batches are running wait for the next
// one: the busier the process, the less a call costs.

export interface BatchesOptions {
  readonly run: (calls: readonly ScriptCall[]) => Promise<readonly (ScriptReply | EphemeralError)[]>
  readonly maxWaitMs: number
  /** Called when the calls of a lane have failed together. */
  readonly onFailure: (lane: string, error: EphemeralError) => void
  /** The server name, for messages. */
  readonly name: string
}

export interface Batches {
  /** Runs a call together with others of its lane, whose keys are on the same server. */
  call(lane: string, call: ScriptCall): Promise<ScriptReply>
  /** Fails the waiting calls. */
  close(): void
}

interface PendingCall {
  readonly call: ScriptCall
  /** Monotonic milliseconds. */
  readonly since: number
  readonly resolve: (reply: ScriptReply) => void
  readonly reject: (error: unknown) => void
}

interface CallLane {
  waiting: PendingCall[]
  readonly running: Set<readonly PendingCall[]>
  isScheduled: boolean
}

interface BatchState extends BatchesOptions {
  readonly lanes: Map<string, CallLane>
  jobs: number
}

/** Maximum calls in one batch: a longer one would block other clients of the server. */
const maxBatch = 128
/** Maximum concurrent batches of a lane. */
const maxRunning = 2
/** Maximum pending calls in total. */
const maxJobs = 50_000

/** Batches of calls. `createBatches({ run, maxWaitMs: 250, onFailure, name }).call('ws_1', call)` */
export function createBatches(options: BatchesOptions): Batches {
  const state: BatchState = { ...options, lanes: new Map(), jobs: 0 }
  return {
    call: (name, call) =>
      new Promise((resolve, reject) => {
        if (state.jobs >= maxJobs) {
          reject(new EphemeralError('refusing', `Redis at ${state.name}: ${maxJobs} calls are already waiting.`))
          return
        }
        state.jobs += 1
        const lane = state.lanes.get(name) ?? openLane(state, name)
        lane.waiting.push({ call, since: performance.now(), resolve, reject })
        schedule(state, name, lane)
      }),
    close() {
      for (const [name, lane] of state.lanes) failLane(state, { name, lane, error: closedError(state.name) })
    },
  }
}

function openLane({ lanes }: BatchState, name: string): CallLane {
  const lane: CallLane = { waiting: [], running: new Set(), isScheduled: false }
  lanes.set(name, lane)
  return lane
}

function schedule(state: BatchState, name: string, lane: CallLane): void {
  if (lane.isScheduled || lane.waiting.length === 0 || lane.running.size >= maxRunning) return
  lane.isScheduled = true
  setImmediate(() => {
    lane.isScheduled = false
    if (lane.waiting.length > 0) void runBatch(state, name, lane)
  })
}

async function runBatch(state: BatchState, name: string, lane: CallLane): Promise<void> {
  const batch = lane.waiting.splice(0, maxBatch)
  lane.running.add(batch)
  const waited = performance.now() - (batch[0]?.since ?? 0)
  const timer = setTimeout(() => setImmediate(silent), Math.max(1, state.maxWaitMs - waited))
  // After a long turn, the response may have arrived but not been read yet: input is read between timers and this check.
  function silent(): void {
    if (!lane.running.has(batch)) return
    const error = silenceError(state.name, state.maxWaitMs)
    failLane(state, { name, lane, error })
    state.onFailure(name, error)
  }
  schedule(state, name, lane)
  try {
    const replies = await state.run(batch.map(({ call }) => call))
    if (lane.running.has(batch)) settle(batch, replies)
  } catch (error) {
    if (lane.running.has(batch)) for (const { reject } of batch) reject(error)
    if (error instanceof EphemeralError) state.onFailure(name, error)
  }
  clearTimeout(timer)
  if (!lane.running.delete(batch)) return
  state.jobs -= batch.length
  if (lane.waiting.length > 0) schedule(state, name, lane)
  else if (lane.running.size === 0 && state.lanes.get(name) === lane) state.lanes.delete(name)
}

function settle(batch: readonly PendingCall[], replies: readonly (ScriptReply | EphemeralError)[]): void {
  for (const [place, { resolve, reject }] of batch.entries()) {
    const reply = replies[place]
    if (reply instanceof EphemeralError) reject(reply)
    else resolve(reply ?? 0)
  }
}

interface LaneFailure {
  readonly name: string
  readonly lane: CallLane
  readonly error: EphemeralError
}

/** Fails all calls of a lane, including waiting ones. */
function failLane(state: BatchState, { name, lane, error }: LaneFailure): void {
  const jobs = [...[...lane.running].flat(), ...lane.waiting]
  state.lanes.delete(name)
  state.jobs -= jobs.length
  lane.running.clear()
  lane.waiting = []
  for (const { reject } of jobs) reject(error)
}

/** The error of calls that timed out. `silenceError('localhost:6379', 250).failure` */
export const silenceError = (name: string, maxWaitMs: number): EphemeralError =>
  new EphemeralError(
    'silent',
    `Redis at ${name}: no answer within ${maxWaitMs} ms. Check its load and the network, or raise \`maxWaitMs\`.`,
  )
const closedError = (name: string): EphemeralError =>
  new EphemeralError('unreachable', `Redis at ${name}: the storage is closed. Open it again, or close it after the last request.`)

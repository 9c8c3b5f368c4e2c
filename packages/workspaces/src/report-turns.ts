import { type Clock, sleep, waitAtMost } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Awaitable } from '@signalbox/storage'

// The work of a report is the number of rows that a workspace has made, and a few readers of one workspace could keep the event loop busy
// for as long as they like. So reports are made in steps: one at a time in each workspace, and half of the time is left to all others.

/** Lets the steps of reports take turns. */
export interface ReportTurns {
  /**
   * Runs a step of a report when it is its turn.
   *
   * @throws `concurrent_requests_exceeded` (429) for the first step, if too many reports of the workspace are in progress.
   */
  run<T>(workspaceId: string, step: () => Awaitable<T>, options?: StepOptions): Promise<T>
}

interface StepOptions {
  readonly isFirst?: boolean
  /** Whether the step keeps the process busy until it resolves. Default: until it returns. */
  readonly isBusy?: boolean
}

/** Maximum steps of one workspace that wait, each of another report. */
const maxWaiting = 100
/** Milliseconds of work after which reports rest for as long. */
const restAfterMs = 5
/** Milliseconds without progress after which the step under way counts as lost: Workers drop the work of a request together with it. */
const lostAfterMs = 30_000

/**
 * Creates the turns of one process.
 *
 * @example
 * const reports = createReportTurns(clock)
 * const [total] = await reports.run('ws_1', () => usage.totals(query), { isFirst: true })
 */
export function createReportTurns(clock: Clock): ReportTurns {
  const lines = new Map<string, Line>()
  const all = createLine(clock)
  let workedMs = 0
  const lineOf = (workspaceId: string): Line => {
    const line = lines.get(workspaceId) ?? createLine(clock)
    lines.set(workspaceId, line)
    return line
  }
  /** Wrapped, so that the next step need not wait for a store. */
  const begin = async <T>(step: () => Awaitable<T>, isBusy: boolean): Promise<{ readonly result: Awaitable<T> }> => {
    const leave = await all.enter()
    const restMs = workedMs
    if (restMs >= restAfterMs) {
      workedMs = 0
      await sleep(clock, Math.ceil(restMs))
    }
    const begunAt = clock.monotonic()
    try {
      const result = step()
      if (isBusy) await result
      return { result }
    } finally {
      workedMs += clock.monotonic() - begunAt
      leave()
    }
  }
  return {
    async run(workspaceId, step, { isFirst = false, isBusy = false } = {}) {
      const line = lineOf(workspaceId)
      if (isFirst && line.waiting() >= maxWaiting)
        throw new GatewayError('concurrent_requests_exceeded', {
          message: `This workspace has ${maxWaiting} reports in progress. Wait for one to finish.`,
          retryAfterMs: 1_000,
        })
      const leave = await line.enter()
      try {
        const { result } = await begin(step, isBusy)
        return await result
      } finally {
        leave()
        if (line.waiting() === 0) lines.delete(workspaceId)
      }
    },
  }
}

interface Line {
  /** Resolves when it is the caller's turn, with a function that ends it. */
  enter(): Promise<() => void>
  /** The number of turns that are waiting or under way. */
  waiting(): number
}

function createLine(clock: Clock): Line {
  let last: Promise<void> | undefined
  let count = 0
  let movedAt = 0
  return {
    waiting: () => count,
    async enter() {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      count += 1
      let isFree = before === undefined
      void before?.then(() => {
        isFree = true
      })
      while (!isFree && clock.monotonic() - movedAt < lostAfterMs) await waitAtMost(lostAfterMs, before, clock)
      movedAt = clock.monotonic()
      return () => {
        movedAt = clock.monotonic()
        count -= 1
        if (last === promise) last = undefined
        resolve()
      }
    },
  }
}

import type { Clock, Logger } from '@signalbox/core/runtime'
import { timersOf } from '@signalbox/core/runtime'
import { errorChain, GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { Workspaces } from '@signalbox/workspaces'
import pTimeout from 'p-timeout'

/**
 * Creates what a gateway needs: workspaces, keys, credit. It runs in each process, so creating something that exists returns it. Use the
 * given `workspaces`; calls on `gateway.workspaces` wait for setup and would deadlock.
 */
export type Setup = (gateway: { readonly workspaces: Workspaces }) => unknown

/** How `setup` runs. */
export interface SetupRuns {
  /** Before a request: undefined if there is nothing to wait for. Rejects with `service_unavailable`. */
  beforeRequest(): Promise<void> | undefined
  /** Before a server listens. Rejects with the error of `setup`. */
  beforeStart(): Promise<void>
}

export interface SetupPorts {
  readonly setup: Setup | undefined
  readonly workspaces: () => Workspaces
  readonly clock: Clock
  readonly logger: Logger
}

const setupTimeoutMs = 10_000
/** Milliseconds before `setup` runs again after a failure. */
const retryMs = 1_000

/** Runs `setup` once, before a start or the first request. Concurrent callers share one run; after a failure it runs again before a later request. */
export function createSetup({ setup, workspaces, clock, logger }: SetupPorts): SetupRuns {
  let isDone = setup === undefined
  let running: { readonly ended: Promise<void>; failedAt?: number } | undefined

  const begin = (): Promise<void> => {
    const run: NonNullable<typeof running> = {
      ended: pTimeout(
        Promise.resolve().then(() => setup?.({ workspaces: workspaces() })),
        {
          milliseconds: setupTimeoutMs,
          message: `\`setup\` did not end within ${setupTimeoutMs / 1_000} s. Use the \`workspaces\` passed to \`setup\`: calls of \`gateway.workspaces\` wait until \`setup\` has ended.`,
          customTimers: timersOf(clock),
        },
      ).then(
        () => {
          isDone = true
          running = undefined
        },
        (error: unknown) => {
          run.failedAt = clock.monotonic()
          logger.error({ error: errorChain(error) }, '`setup` failed and will run again before a later request.')
          throw setupFailedError(error)
        },
      ),
    }
    running = run
    return run.ended
  }
  const beforeRequest = (): Promise<void> | undefined => {
    if (isDone) return undefined
    const isOver = running?.failedAt !== undefined && clock.monotonic() - running.failedAt >= retryMs
    return running && !isOver ? running.ended : begin()
  }
  return {
    beforeRequest,
    beforeStart: async () => {
      await beforeRequest()?.catch((error: unknown) => {
        throw isGatewayError(error) && error.cause !== undefined ? error.cause : error
      })
    },
  }
}

/** The message has the reason if it is a call that the gateway refused. What else is thrown may contain secrets: that is only logged. */
const setupFailedError = (cause: unknown): GatewayError =>
  new GatewayError('service_unavailable', {
    message:
      isGatewayError(cause) && cause.status < 500
        ? `The gateway could not be set up, because \`setup\` failed: ${cause.message}`
        : 'The gateway could not be set up. See its log.',
    retryAfterMs: retryMs,
    cause,
  })

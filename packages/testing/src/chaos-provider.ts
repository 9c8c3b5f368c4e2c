import type { Transport } from '@signalbox/dialects/protocol'
import { answer, json, type Respond } from './chaos/acts.ts'
import type { Pace, SeenRequest } from './chaos/exchange.ts'
import type { Fault } from './chaos/expect.ts'
import { faultNamed, faults } from './chaos/faults.ts'
import { askedIn, type Controller, type Listening, listenRaw, misplaced } from './chaos/server.ts'

/** What to play: a fault by name, a fault, or a custom function. */
export type Script = string | Fault | Respond

export interface ChaosProvider {
  /** Ends in `/v1`, as `compatible` expects for `baseURL`. */
  readonly url: string
  readonly port: number
  /** In order of arrival of their heads. */
  readonly requests: readonly SeenRequest[]
  /** Requests to the target of redirects and to unknown paths. Must stay empty. */
  readonly unexpectedRequests: readonly SeenRequest[]
  /** Plays this for the next request, or the next few. */
  next(script: Script, times?: number): void
  /** Plays this for every request without a queued script; `undefined` restores correct responses. */
  always(script: Script | undefined): void
  /** Number of open connections. */
  connections(): number
  /** Number of unfinished responses: the client is still waiting, or its disconnect was not noticed yet. */
  unfinished(): number
  /**
   * Resolves when the condition holds, polling every few milliseconds; rejects after `timeoutMs` (default 60,000) with the description of
   * what was awaited.
   */
  until(what: string, holds: (server: ChaosProvider) => boolean, timeoutMs?: number): Promise<void>
  close(): Promise<void>
}

const ordinaryPace: Pace = { dripMs: 1_000, pingMs: 100, lateMs: 2_000, beatMs: 25 }

interface ChosenResponse {
  readonly respond: Respond
  readonly fault?: string
}

const chosenResponse = (script: Script): ChosenResponse => {
  if (typeof script === 'function') return { respond: script }
  const fault = typeof script === 'string' ? faultNamed(script) : script
  return { respond: fault.respond, fault: fault.name }
}

/** The model `fault:<name>` requests a fault without further setup. */
const byModel = (seen: SeenRequest): ChosenResponse | undefined => {
  const wanted = /^fault:(.+)$/.exec(String(askedIn(seen).model))?.[1]
  const fault = wanted === undefined ? undefined : faults.find(({ name }) => name === wanted)
  return fault && { respond: fault.respond, fault: fault.name }
}

/**
 * A provider on a real socket of 127.0.0.1 that supports all provider dialects and fails on command.
 *
 * @example
 * const server = await chaosProvider()
 * server.next('reset-mid-stream')
 * const provider = compatible({ id: 'chaos', baseURL: server.url, apiKey: 'secret', apis: ['chat', 'responses'] })
 * await server.close()
 */
export async function chaosProvider(options: { readonly pace?: Partial<Pace> } = {}): Promise<ChaosProvider> {
  const queue: ChosenResponse[] = []
  let standing: ChosenResponse | undefined
  const unexpectedRequests: SeenRequest[] = []

  const pace = { ...ordinaryPace, ...options.pace }
  const redirectTarget = await listenRaw({ pace, elsewhere: () => '', choose: () => ({ respond: json(200, {}) }) })
  const controller: Controller = {
    pace,
    elsewhere: () => `http://127.0.0.1:${redirectTarget.port}`,
    choose(seen) {
      const wrong = misplaced(seen)
      if (wrong && seen.json) unexpectedRequests.push(seen)
      return wrong ? { respond: wrong } : (queue.shift() ?? byModel(seen) ?? standing ?? { respond: answer })
    },
  }
  const server: Listening = await listenRaw(controller)

  const provider: ChaosProvider = {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    requests: server.requests,
    get unexpectedRequests() {
      return [...unexpectedRequests, ...redirectTarget.requests]
    },
    next(script, times = 1) {
      queue.push(...Array.from({ length: times }, () => chosenResponse(script)))
    },
    always(script) {
      standing = script === undefined ? undefined : chosenResponse(script)
    },
    connections: server.open,
    unfinished: server.unfinished,
    async until(what, holds, timeoutMs = 60_000) {
      const end = performance.now() + timeoutMs
      while (!holds(provider)) {
        if (performance.now() > end) throw new Error(`Timed out after ${timeoutMs} ms waiting for: ${what}.`)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    },
    async close() {
      await Promise.all([server.close(), redirectTarget.close()])
    },
  }
  return provider
}

/**
 * A transport that never connects, with the system's error.
 *
 * @example const gateway = createGateway({ ...options, transport: brokenTransport('ENETUNREACH') })
 */
export const brokenTransport =
  (code: string): Transport =>
  () =>
    Promise.reject(Object.assign(new Error(`connect ${code} 192.0.2.1:443`), { code }))

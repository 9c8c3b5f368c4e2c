import type { Transport } from '@signalbox/core/runtime'
import { answer, json, type Play } from './chaos/acts.ts'
import type { Pace, SeenRequest } from './chaos/exchange.ts'
import type { Fault } from './chaos/expect.ts'
import { faultNamed, faults } from './chaos/faults.ts'
import { askedIn, type Director, type Listening, listenRaw, misplaced } from './chaos/server.ts'

/** What to play: a fault by name, a fault, or a custom function. */
export type Script = string | Fault | Play

export interface ChaosProvider {
  /** Ends in `/v1`, as `compatible` expects for `baseUrl`. */
  readonly url: string
  readonly port: number
  /** In order of arrival of their heads. */
  readonly requests: readonly SeenRequest[]
  /** Requests to the target of redirects and to unknown paths. Must stay empty. */
  readonly strayed: readonly SeenRequest[]
  /** Plays this for the next request, or the next few. */
  next(script: Script, times?: number): void
  /** Plays this for every request without a queued script; `undefined` restores correct responses. */
  always(script: Script | undefined): void
  /** Number of open connections. */
  connections(): number
  /** Number of unfinished responses: the client is still waiting, or its disconnect was not noticed yet. */
  playing(): number
  /**
   * Resolves when the condition holds, polling every few milliseconds; rejects after `patienceMs` (default 5,000) with the description of
   * what was awaited.
   */
  until(what: string, holds: (server: ChaosProvider) => boolean, patienceMs?: number): Promise<void>
  close(): Promise<void>
}

const ordinaryPace: Pace = { dripMs: 1_000, pingMs: 100, lateMs: 2_000, beatMs: 25 }

interface Played {
  readonly play: Play
  readonly fault?: string
}

const played = (script: Script): Played => {
  if (typeof script === 'function') return { play: script }
  const fault = typeof script === 'string' ? faultNamed(script) : script
  return { play: fault.play, fault: fault.name }
}

/** The model `fault:<name>` requests a fault without further setup. */
const byModel = (seen: SeenRequest): Played | undefined => {
  const wanted = /^fault:(.+)$/.exec(String(askedIn(seen).model))?.[1]
  const fault = wanted === undefined ? undefined : faults.find(({ name }) => name === wanted)
  return fault && { play: fault.play, fault: fault.name }
}

/**
 * A provider on a real socket of 127.0.0.1 that supports all provider dialects and fails on command.
 *
 * @example
 * const server = await chaosProvider()
 * server.next('reset-mid-stream')
 * const provider = compatible({ id: 'chaos', baseUrl: server.url, apiKey: 'secret', speaks: ['chat', 'responses'] })
 * await server.close()
 */
export async function chaosProvider(options: { readonly pace?: Partial<Pace> } = {}): Promise<ChaosProvider> {
  const queue: Played[] = []
  let standing: Played | undefined
  const strayed: SeenRequest[] = []

  const pace = { ...ordinaryPace, ...options.pace }
  const nowhere = await listenRaw({ pace, elsewhere: () => '', choose: () => ({ play: json(200, {}) }) })
  const director: Director = {
    pace,
    elsewhere: () => `http://127.0.0.1:${nowhere.port}`,
    choose(seen) {
      const wrong = misplaced(seen)
      if (wrong && seen.json) strayed.push(seen)
      return wrong ? { play: wrong } : (queue.shift() ?? byModel(seen) ?? standing ?? { play: answer })
    },
  }
  const server: Listening = await listenRaw(director)

  const provider: ChaosProvider = {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    requests: server.requests,
    get strayed() {
      return [...strayed, ...nowhere.requests]
    },
    next(script, times = 1) {
      queue.push(...Array.from({ length: times }, () => played(script)))
    },
    always(script) {
      standing = script === undefined ? undefined : played(script)
    },
    connections: server.open,
    playing: server.playing,
    async until(what, holds, patienceMs = 5_000) {
      const end = performance.now() + patienceMs
      while (!holds(provider)) {
        if (performance.now() > end) throw new Error(`Waited ${patienceMs} ms in vain: ${what}.`)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    },
    async close() {
      await Promise.all([server.close(), nowhere.close()])
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

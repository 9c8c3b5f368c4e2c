import type { Job } from './children/load.ts'
import type { Dialect } from './dialects.ts'
import { deltaMark, deltas } from './fake-content.ts'
import { bodyOf, pathOf } from './requests.ts'
import type { Server } from './servers.ts'

/** One path through the gateway. */
export interface Case {
  /** Dialect of the client. */
  readonly client: Dialect
  /** Dialect of the provider. */
  readonly provider: Dialect
  /** `streamed`: a delta every 2 ms. `burst`: as fast as they are read. */
  readonly delivery: 'whole' | 'streamed' | 'burst'
  readonly connections: number
  /** Request rate, the same for all servers. Absent: as fast as requests are answered. */
  readonly perSecond?: number
}

type Pair = Pick<Case, 'client' | 'provider'>
type Way = Omit<Case, keyof Pair>

const usual: readonly Pair[] = [
  { client: 'responses', provider: 'responses' },
  { client: 'chat', provider: 'chat' },
  { client: 'responses', provider: 'chat' },
]

/**
 * If requests are sent as fast as a server responds, a faster server finds its neighbours awake more often, and waking a process is the
 * most expensive part of a write. So whole responses are also measured at a fixed rate; streams are paced by the provider.
 */
const ways: readonly Way[] = [
  { delivery: 'whole', connections: 1 },
  { delivery: 'whole', connections: 32 },
  { delivery: 'whole', connections: 32, perSecond: 2_000 },
  { delivery: 'streamed', connections: 1 },
  { delivery: 'streamed', connections: 32 },
  { delivery: 'burst', connections: 1 },
  { delivery: 'burst', connections: 32 },
]

/** The usual pairs in every way. */
export const relayed: readonly Case[] = ways.flatMap(way => usual.map(pair => ({ ...pair, ...way })))

const pairTitle = ({ client, provider }: Pair): string => (client === provider ? client : `${client} → ${provider}`)
export const titleOf = (one: Case): string =>
  [
    pairTitle(one),
    one.delivery,
    `${one.connections} connection${one.connections === 1 ? '' : 's'}`,
    ...(one.perSecond ? [`${one.perSecond} /s`] : []),
  ].join(', ')

/** `--only burst --only 32`: every word must occur in the title. */
export const chosen = <T>(among: readonly T[], words: readonly string[], title: (one: T) => string): readonly T[] =>
  among.filter(one => words.every(word => title(one).includes(word)))

/** Number of requests per round of one or two seconds. */
const counts: Readonly<Record<Case['delivery'], readonly [one: number, many: number]>> = {
  whole: [2_000, 8_000],
  streamed: [10, 320],
  burst: [600, 1_200],
}
export const requestsOf = ({ delivery, connections, perSecond }: Case): number =>
  perSecond !== undefined ? perSecond * 2 : counts[delivery][connections === 1 ? 0 : 1]

/** The floor translates nothing, and a peer only gets requests it can pass through, so both are called in the provider's dialect. */
const passesOn = ({ kind }: Server): boolean => kind === 'floor' || kind === 'peer'

export function jobFor(one: Case, server: Server, requests: number): Job {
  const wired = one.delivery === 'burst' ? 'bench-burst' : 'bench'
  const stream = one.delivery !== 'whole'
  const asked = passesOn(server)
    ? { dialect: one.provider, model: wired, stream }
    : { dialect: one.client, model: `${one.provider}/${wired}`, stream }
  return {
    port: server.port,
    authorization: server.authorization,
    ...(server.headers !== undefined && { headers: server.headers }),
    path: pathOf(asked),
    body: bodyOf(asked),
    connections: one.connections,
    requests,
    ...(one.perSecond !== undefined && { perSecond: one.perSecond }),
  }
}

/** A job whose responses are all verified. */
export const checked = (job: Job, one: Case, server: Server): Job => ({
  ...job,
  check:
    one.delivery !== 'whole'
      ? { mark: deltaMark[passesOn(server) ? one.provider : one.client], times: deltas }
      : { mark: 'Once there was a signalbox', times: !passesOn(server) && one.client === 'responses' ? 2 : 1 },
})

import type { Job } from './children/load.ts'
import type { Server } from './lab.ts'
import { deltaMark, deltas, type Language, paths, requestBody } from './speech.ts'

/** One way through the gateway. */
export interface Case {
  /** What the client speaks. */
  readonly client: Language
  /** What the provider speaks. */
  readonly provider: Language
  /** `streamed`: a delta every 2 ms. `burst`: as fast as they can be taken. */
  readonly delivery: 'whole' | 'streamed' | 'burst'
  readonly connections: number
  /** At this pace, the same for all; without, as fast as they are answered. */
  readonly perSecond?: number
}

const pairs: readonly (readonly [Language, Language])[] = [
  ['responses', 'responses'],
  ['chat', 'chat'],
  ['responses', 'chat'],
]

/**
 * A server that is asked as fast as it answers finds its neighbours awake the faster it is itself, and waking a process is
 * the dearest part of a write. So whole answers are also measured at one pace for all; streams are paced by the provider.
 */
const ways: readonly Omit<Case, 'client' | 'provider'>[] = [
  { delivery: 'whole', connections: 1 },
  { delivery: 'whole', connections: 32 },
  { delivery: 'whole', connections: 32, perSecond: 2_000 },
  { delivery: 'streamed', connections: 1 },
  { delivery: 'streamed', connections: 32 },
  { delivery: 'burst', connections: 1 },
  { delivery: 'burst', connections: 32 },
]

const cases: readonly Case[] = ways.flatMap(way => pairs.map(([client, provider]) => ({ client, provider, ...way })))

const wayOf = ({ client, provider }: Case): string => (client === provider ? client : `${client} → ${provider}`)
export const titleOf = (one: Case): string =>
  [
    wayOf(one),
    one.delivery,
    `${one.connections} connection${one.connections === 1 ? '' : 's'}`,
    ...(one.perSecond ? [`${one.perSecond} /s`] : []),
  ].join(', ')

/** `--only burst --only 32`: every word must be in the title. */
export const chosen = (words: readonly string[]): readonly Case[] => cases.filter(one => words.every(word => titleOf(one).includes(word)))

/** How many requests make a round of one or two seconds. */
const counts: Readonly<Record<Case['delivery'], readonly [one: number, many: number]>> = {
  whole: [2_000, 8_000],
  streamed: [10, 320],
  burst: [600, 1_200],
}
export const requestsOf = ({ delivery, connections, perSecond }: Case): number =>
  perSecond !== undefined ? perSecond * 2 : counts[delivery][connections === 1 ? 0 : 1]

/** The floor translates nothing, so it is asked in the provider's language. */
export function jobFor(one: Case, server: Server, requests: number): Job {
  const language = server.kind === 'floor' ? one.provider : one.client
  const wired = one.delivery === 'burst' ? 'bench-burst' : 'bench'
  const model = server.kind === 'floor' ? wired : `${one.provider}/${wired}`
  return {
    port: server.port,
    authorization: server.authorization,
    path: paths[language],
    body: requestBody(language, model, one.delivery !== 'whole'),
    connections: one.connections,
    requests,
    ...(one.perSecond !== undefined && { perSecond: one.perSecond }),
  }
}

/** A job whose answers are looked at, each of them. */
export const checked = (job: Job, one: Case, server: Server): Job => ({
  ...job,
  check:
    one.delivery !== 'whole'
      ? { mark: deltaMark[server.kind === 'floor' ? one.provider : one.client], times: deltas }
      : { mark: 'Once there was a signalbox', times: server.kind !== 'floor' && one.client === 'responses' ? 2 : 1 },
})

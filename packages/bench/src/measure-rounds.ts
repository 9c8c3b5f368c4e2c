import { type Case, checked, jobFor, requestsOf } from './cases.ts'
import type { Lab, Server } from './servers.ts'

/** The cost of one server in one round. */
interface Measured {
  /** Microseconds of CPU per request. */
  readonly cpu: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly chunks: number
}

/** The cost of each server in the same round, by kind. */
export type Round = Readonly<Record<Server['kind'], Measured>>

export interface Rounds {
  readonly lab: Lab
  readonly servers: readonly Server[]
  /** Fewer requests and rounds. */
  readonly quick: boolean
}

/** Measures servers in turns, because the state of a machine varies. */
export async function measureRounds(one: Case, { lab, servers, quick }: Rounds): Promise<readonly Round[]> {
  const requests = Math.ceil(requestsOf(one) / (quick ? 4 : 1))
  for (const server of servers) await warmUp(lab, one, server)
  const rounds: Round[] = []
  for (let at = 0; at < (quick ? 2 : 5); at += 1) {
    const found: Partial<Record<Server['kind'], Measured>> = {}
    // The first server of a round may find the machine in another state, so they take turns.
    for (let turn = 0; turn < servers.length; turn += 1) {
      const server = servers[(at + turn) % servers.length]
      if (server) found[server.kind] = await measure(lab, server, { one, requests })
    }
    rounds.push(found as Round)
  }
  return rounds
}

async function measure(
  { load }: Lab,
  server: Server,
  { one, requests }: { readonly one: Case; readonly requests: number },
): Promise<Measured> {
  const before = await server.child.ask('cpu', {})
  const { seconds, p50, p99, chunks } = await load.ask('run', jobFor(one, server, requests))
  const cpu = ((await server.child.ask('cpu', {})) - before) / requests
  return { cpu, perSecond: requests / seconds, p50, p99, chunks }
}

/** Ten requests of a paced stream would be measured cold, so their code is warmed up with bursts. */
async function warmUp({ load }: Lab, one: Case, server: Server): Promise<void> {
  await load.ask('run', checked(jobFor({ ...one, connections: 8 }, server, 50), one, server))
  const hot: Case = { client: one.client, provider: one.provider, delivery: one.delivery === 'whole' ? 'whole' : 'burst', connections: 8 }
  await load.ask('run', jobFor(hot, server, hot.delivery === 'whole' ? 5_000 : 800))
}

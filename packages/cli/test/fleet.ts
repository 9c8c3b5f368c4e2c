import type { ChildProcess } from 'node:child_process'
import { Agent, request } from 'node:http'
import { onTestFinished } from 'vitest'
import { listening, newFolder } from './launch.ts'
import { cost, timeoutMs } from './workers.ts'

/** One server process of a fleet. A replacement is another one in the same folder. */
interface Member {
  readonly place: number
  readonly url: string
  readonly agent: Agent
  readonly child: ChildProcess
  isKilled: boolean
}

export interface Fleet {
  /** Those that listen. */
  members(): readonly Member[]
  /** kill -9 of the one that has listened the longest; its replacement starts at once. Resolves once that listens. */
  replaceOne(): Promise<void>
  /** kill -9 of the one that has listened the longest. What it returns starts its replacement. */
  killOne(): () => Promise<void>
  /** How many were killed. */
  kills(): number
}

/** Servers of their own, each with its folder and port: what they share is their storage. They start at the same time. */
export async function startFleet(size: number, config: unknown): Promise<Fleet> {
  const folders = Array.from({ length: size }, newFolder)
  const live = new Map<number, Member>()
  let kills = 0
  const start = async (place: number): Promise<void> => {
    const { url, child } = await listening({ folder: folders[place] ?? '', config, timeoutMs })
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    onTestFinished(() => agent.destroy())
    live.set(place, { place, url, agent, child, isKilled: false })
  }
  await Promise.all(folders.map((_, place) => start(place)))
  const killOne = (): (() => Promise<void>) => {
    const [victim] = live.values()
    if (!victim) return async () => {}
    kills += 1
    live.delete(victim.place)
    victim.isKilled = true
    victim.child.kill('SIGKILL')
    return () => start(victim.place)
  }
  return {
    members: () => [...live.values()],
    killOne,
    replaceOne: () => killOne()(),
    kills: () => kills,
  }
}

/** The outcome of a stream that had begun, with comments only, when its 503 arrived. */
export const inStream503 = '503 in stream'

/** How a request ended. */
export interface Ended {
  /** Its status, with ` cut` if the answer is not complete, `503 in stream`, or the error of its connection. */
  readonly outcome: number | string
  /** The gateway's name of it. */
  readonly id: string
  /** When it was sent and when it ended, in milliseconds. */
  readonly from: number
  readonly to: number
  /** Its process was killed before it ended. */
  readonly isOfKilled: boolean
}

/** One request to a member, whole or streamed. */
function send(member: Member, key: string, stream: boolean): Promise<Ended> {
  const from = performance.now()
  const body = JSON.stringify({ model: 'm', stream, max_tokens: cost, messages: [{ role: 'user', content: 'x' }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': String(body.length) }
  return new Promise(resolve => {
    const end = (outcome: number | string, id = ''): void =>
      resolve({ outcome, id, from, to: performance.now(), isOfKilled: member.isKilled })
    const failed = (error: NodeJS.ErrnoException): void => end(error.code ?? error.message)
    const options = { method: 'POST', agent: member.agent, headers, timeout: timeoutMs }
    const outgoing = request(`${member.url}/v1/chat/completions`, options, response => {
      const { statusCode = 0 } = response
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', failed)
      response.on('end', () => {
        const isWhole = statusCode !== 200 || (stream ? text.includes('[DONE]') : text.endsWith('}'))
        const end200 = text.includes('"service_unavailable"') ? inStream503 : `${statusCode} cut`
        end(isWhole ? statusCode : end200, String(response.headers['x-request-id'] ?? ''))
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('timeout'), { code: 'TIMEOUT' })))
    outgoing.on('error', failed)
    outgoing.end(body)
  })
}

export interface Traffic {
  readonly key: string
  /** Requests at the same time. */
  readonly clients: number
  /** No more than so many requests. Default: as many as there is time for. */
  readonly most?: number
  /** Milliseconds that a client waits between two requests. Default: 0. */
  readonly pauseMs?: number
}

/** Sends whole and streamed requests to all members in turns until `isOver`. */
export async function traffic(
  fleet: Pick<Fleet, 'members'>,
  { key, clients, most = Infinity, pauseMs = 0 }: Traffic,
  isOver: () => boolean,
) {
  const ended: Ended[] = []
  let sent = 0
  const client = async (): Promise<void> => {
    while (!isOver() && sent < most) {
      const at = sent++
      const members = fleet.members()
      const member = members[at % members.length]
      if (member) ended.push(await send(member, key, at % 3 === 0))
      if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return ended
}

import { chosen, pairs, pairTitle } from './cases.ts'
import type { Dialect } from './dialects.ts'
import { medianOf } from './numbers.ts'
import { against, table } from './report.ts'
import { type Asked, bodyOf, pathOf } from './requests.ts'
import type { Section } from './section.ts'
import { type Lab, openLab, type Server } from './servers.ts'

const megabytes = 30
/** Maximum bytes of memory per byte of the body. */
const most = 4

/** Base64 that is not an image: the gateway does not decode it. */
const base64 = 'iVBORw0KGgo+/A8z'.repeat((megabytes * 1_000_000) / 16)

/** Memory cost of a large image in a request, for every client and provider dialect, each in a separate process. */
export const image: Section = async ({ quick, only }) => {
  const lab = await openLab()
  try {
    const rows: (readonly string[])[] = []
    for (const pair of chosen(pairs, only, pairTitle)) {
      process.stderr.write(`image: ${pairTitle(pair)}\n`)
      const found: Found[] = []
      for (let round = 0; round < (quick ? 1 : 3); round += 1) found.push(await observe(lab, pair.client, pair.provider))
      const [idle, peak] = [medianOf(found.map(one => one.idle)), medianOf(found.map(one => one.peak))]
      const ratio = medianOf(found.map(one => (one.peak - one.idle) / one.body))
      rows.push([pairTitle(pair), mb(idle), mb(peak), against(ratio, most)])
    }
    return [
      `A request with ${megabytes} MB of base64 in it, answered whole: resident memory before, and at its highest. Times the body: what it grew by, at most ${most}.`,
      table(['client → provider', 'idle MB', 'peak MB', 'times the body'], rows),
    ].join('\n\n')
  } finally {
    await lab.close()
  }
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0)

interface Found {
  readonly idle: number
  readonly peak: number
  readonly body: number
}

/** Small requests first, so that the memory that any request needs is already allocated. */
async function observe(lab: Lab, dialect: Dialect, provider: Dialect): Promise<Found> {
  const server = await lab.open('memory')
  const asked: Asked = { dialect, model: `${provider}/bench`, stream: false }
  try {
    for (let at = 0; at < 20; at += 1) await post(server, asked, bodyOf(asked))
    const { rss: idle } = await server.child.ask('memory', {})
    const body = bodyOf(asked, base64)
    await post(server, asked, body)
    return { idle, peak: await server.child.ask('peak', {}), body: body.length }
  } finally {
    await server.stop()
  }
}

async function post({ port, authorization }: Server, asked: Asked, body: string): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${port}${pathOf(asked)}`, { method: 'POST', headers, body })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`Expected 200, got ${answer.status}:\n${text.slice(0, 2_000)}`)
}

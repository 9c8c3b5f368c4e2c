import { type Api, type ApiReply, createApi } from '@signalbox/api'
import { asIterator } from '@signalbox/core/runtime'
import { createGateway } from '@signalbox/gateway'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'

// Dashboard queries over the API, in a separate process, so that its memory is that of the queries alone.

export interface DashboardFound {
  readonly questions: readonly { readonly title: string; readonly ms: number }[]
  readonly export: {
    readonly rows: number
    readonly firstMs: number
    readonly ms: number
    readonly bytes: number
    readonly held: number
    readonly grown: number
  }
}

const [path = '', workspaceId = '', from = '', to = ''] = process.argv.slice(2)
const storage = sqliteStorage(path)
const gateway = createGateway({ providers: [], models: [], storage, limits: { managementReadsRpm: 100_000 } })
await gateway.workspaces.create({ id: workspaceId, name: 'Bench' })
const { secret } = await gateway.workspaces(workspaceId).apiKeys.create({ name: 'reader', scopes: ['usage:read'] })
const api = createApi(gateway)

const range = `from=${from}&to=${to}`
const questions = [
  ['summary', `summary?${range}`],
  ['30 days', `trends?${range}`],
  ['30 days by model', `trends?${range}&group_by=model`],
  ['request log, 100 rows', `requests?${range}&limit=100`],
] as const

const found: DashboardFound = { questions: await askAll(), export: await exported() }
await gateway.close()
process.stdout.write(JSON.stringify(found))

async function askAll(): Promise<DashboardFound['questions']> {
  const answers: { title: string; ms: number }[] = []
  for (const [title, what] of questions) {
    const times: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now()
      const { status } = await ask(api, what)
      if (status !== 200) throw new Error(`${what} ended in ${status}.`)
      times.push(performance.now() - started)
    }
    answers.push({ title, ms: times.sort((a, b) => a - b)[2] ?? 0 })
  }
  return answers
}

async function exported(): Promise<DashboardFound['export']> {
  const started = performance.now()
  const { headers, body } = await ask(api, `export?${range}`)
  if (typeof body === 'string') throw new Error('An export comes in pieces.')
  const chunks = asIterator(body)
  let step = await chunks.next()
  const firstMs = performance.now() - started
  let [bytes, pieces, base, peak, before] = [0, 0, 0, 0, 0]
  for (; !step.done; step = await chunks.next()) {
    bytes += step.value.length
    pieces += 1
    // Start-up memory is not growth.
    if (pieces === 20) {
      before = heapHeld()
      base = process.memoryUsage.rss()
    }
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  return {
    rows: Number(headers['x-export-row-count']),
    firstMs,
    ms: performance.now() - started,
    bytes,
    held: heapHeld() - before,
    grown: peak - base,
  }
}

/** Heap bytes after a collection. */
function heapHeld(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

function ask(to: Api, what: string): Promise<ApiReply> {
  const [name = '', query = ''] = what.split('?')
  return to({
    method: 'GET',
    path: `/v1/workspaces/${workspaceId}/analytics/${name}`,
    query,
    header: header => (header === 'authorization' ? `Bearer ${secret}` : undefined),
    text: async () => ({ ok: true, text: '' }),
    signal: new AbortController().signal,
  })
}

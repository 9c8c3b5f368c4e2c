import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { resolve } from 'node:path'

// What uploads cost: `pnpm lab uploads [keys]`. Linux, 127.0.0.1 only, a
// minute and a half. `keys`: over how many keys the uploads are spread; default 20, which reaches the bound of the process.

const keys = Number(process.argv[2] ?? 20)
const uploadBytes = 27_000_000
const sleep = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms))

interface RunningServer {
  readonly port: number
  readonly secrets: readonly string[]
}

async function started(): Promise<{ readonly child: ChildProcess } & RunningServer> {
  const child = fork(resolve(import.meta.dirname, 'server.ts'), { execArgv: ['--conditions=signalbox-source', '--no-warnings'] })
  const served = await new Promise<RunningServer>(done => child.once('message', message => done(message as RunningServer)))
  return { child, ...served }
}

const rssOf = (pid = 0): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_000

/** Sends the head of an upload; tells the status once it comes. */
function upload(port: number, secret: string): { readonly socket: Socket; readonly status: () => number } {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', piece => (text += piece)).on('error', () => {})
  socket.write(
    `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${uploadBytes}\r\n\r\n`,
  )
  return { socket, status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0) }
}

/** Mostly one image, as large bodies are. */
function imageBody(): Buffer {
  const head =
    '{"model":"small","input":[{"role":"user","content":[{"type":"input_text","text":"What is this?"},{"type":"input_image","image_url":"data:image/png;base64,'
  const tail = '"}]}]}'
  return Buffer.from(head + 'A'.repeat(uploadBytes - head.length - tail.length) + tail)
}

/** Watches a process while something runs: the most memory, and how long /healthz took. */
async function watched(pid: number | undefined, port: number, run: () => Promise<void>) {
  let peak = 0
  const waits: number[] = []
  let over = false
  const watching = (async () => {
    while (!over) {
      const at = performance.now()
      await fetch(`http://127.0.0.1:${port}/healthz`).then(reply => reply.text())
      waits.push(performance.now() - at)
      peak = Math.max(peak, rssOf(pid))
      await sleep(50)
    }
  })()
  await run()
  over = true
  await watching
  waits.sort((a, b) => a - b)
  const at = (share: number): number => Math.round(waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0)
  return { peakMB: Math.round(peak), healthz: { p50: at(0.5), p99: at(0.99), max: at(1) }, after: Math.round(rssOf(pid)) }
}

const counted = (statuses: readonly number[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Small requests first, so that what is measured is not the loading of modules. */
async function warmUp({ port, secrets }: RunningServer): Promise<void> {
  const headers = { authorization: `Bearer ${secrets[0]}`, 'content-type': 'application/json' }
  const body = '{"model":"small","input":"Hello."}'
  for (let at = 0; at < 20; at++) await (await fetch(`http://127.0.0.1:${port}/v1/responses`, { method: 'POST', headers, body })).text()
}

async function atOnce(): Promise<void> {
  const { child, port, secrets } = await started()
  await warmUp({ port, secrets })
  const body = imageBody()
  let uploads: ReturnType<typeof upload>[] = []
  const seen = await watched(child.pid, port, async () => {
    uploads = Array.from({ length: 60 }, (_, at) => upload(port, secrets[at % keys] ?? ''))
    for (const { socket } of uploads) socket.write(body)
    for (const end = performance.now() + 40_000; performance.now() < end && uploads.some(({ status }) => status() === 0); ) await sleep(100)
    await sleep(2_000)
  })
  console.log('60 uploads of 27 MB at once', { ...seen, statuses: counted(uploads.map(({ status }) => status())) })
  for (const { socket } of uploads) socket.destroy()
  child.kill()
}

async function dripping(): Promise<void> {
  const { child, port, secrets } = await started()
  let uploads: ReturnType<typeof upload>[] = []
  const seen = await watched(child.pid, port, async () => {
    uploads = Array.from({ length: 80 }, (_, at) => upload(port, secrets[at % keys] ?? ''))
    for (let at = 0; at < 5; at++) {
      for (const { socket } of uploads) if (!socket.destroyed) socket.write('{')
      await sleep(8_000)
    }
  })
  console.log('80 uploads that drip for 40 s', { ...seen, statuses: counted(uploads.map(({ status }) => status())) })
  for (const { socket } of uploads) socket.destroy()
  child.kill()
}

await atOnce()
await dripping()

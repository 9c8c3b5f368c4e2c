import { type Api, createApi } from '@signalbox/api'
import { allRoutes as routes } from '@signalbox/api/routes'
import { asIterator } from '@signalbox/core/runtime'
import { bedrockProvider, chatProvider, geminiProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import { createGateway } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { scriptedProvider } from '../../src/scripted-provider.ts'

export interface FuzzScene {
  /** Status, code and text of the answer; CPU in milliseconds, of this process, so of everything that it does meanwhile. */
  send(method: string, path: string, text: string): Promise<Sent>
  /** That management changes. */
  readonly workspaceId: string
  /** What was logged as an error. */
  readonly errors: string[]
  /** A fresh key, workspace and storage: what was made so far goes. */
  renew(): Promise<void>
}

interface Sent {
  readonly status: number
  readonly code: string
  readonly cpuMs: number
}

const maxTries = 4
const dearMs = 250

/** Sends what seems dear again; its best try counts, since cold code and a busy machine make a request dearer than it is. */
export async function sendForCost(scene: FuzzScene, path: string, text: string): Promise<Sent> {
  let best = await scene.send('POST', path, text)
  for (let tries = 1; tries < maxTries && best.cpuMs > dearMs && best.status < 500; tries += 1) {
    const again = await scene.send('POST', path, text)
    if (again.cpuMs < best.cpuMs || again.status >= 500) best = again
  }
  return best
}

interface Testbed {
  readonly api: Api
  readonly secretFor: (path: string) => string
  readonly workspaceId: string
  close(): Promise<void>
}

const dialects = [responsesProvider, chatProvider, messagesProvider, geminiProvider, bedrockProvider]

/** A gateway over memory that asks providers of all five dialects in turn; they answer at once, or fail so that the next is asked. */
export async function fuzzScene(): Promise<FuzzScene> {
  const errors: string[] = []
  let testbed = await open(errors)
  return {
    get workspaceId() {
      return testbed.workspaceId
    },
    errors,
    async renew() {
      await testbed.close()
      testbed = await open(errors)
    },
    async send(method, path, text) {
      const before = process.cpuUsage()
      const answer = await answerOf(testbed.api, { method, path, text, secret: testbed.secretFor(path) })
      const { user, system } = process.cpuUsage(before)
      return { ...answer, cpuMs: (user + system) / 1_000 }
    },
  }
}

async function open(errors: string[]): Promise<Testbed> {
  const providers = dialects.map(dialect => scriptedProvider({ id: `by-${dialect.name}`, dialect }))
  const offers = (names: readonly string[]) =>
    names.map(name => ({
      provider: `by-${name}`,
      model: 'test-model',
      api: name,
      price: { input: 1_000_000, output: 2_000_000 },
    }))
  const names = dialects.map(({ name }) => name)
  const unlimited = { inferenceRpm: 1e9, managementReadsRpm: 1e9, managementWritesRpm: 1e9, concurrentRequests: 1_000 }
  const gateway = createGateway({
    providers,
    models: [{ id: 'm', offers: offers(names) }, ...names.map(name => ({ id: `m-${name}`, offers: offers([name]) }))],
    sealingKey: new Uint8Array(32).fill(1),
    storage: memoryStorage(),
    limits: unlimited,
    billing: { onReload: () => {} },
    strategy: 'order',
    logger: {
      info: () => {},
      warn: () => {},
      error: (facts, message) => void (errors.length < 100 && errors.push(`${message} ${JSON.stringify(facts).slice(0, 1_000)}`)),
    },
  })
  const testbed = async (name: string): Promise<{ readonly id: string; readonly secret: string }> => {
    const { id } = await gateway.workspaces.create({ name })
    await gateway.workspaces(id).billing.credit({ reference: 'first', amount: 1_000_000_000_000 })
    return { id, secret: (await gateway.workspaces(id).apiKeys.create({ name: 'all', scopes: '*' })).secret }
  }
  // What is changed in the one must not keep requests of the other from being answered.
  const managed = await testbed('Managed')
  const calling = await testbed('Calling')
  const secretFor = (path: string): string => (path.includes(managed.id) ? managed.secret : calling.secret)
  return { api: createApi(gateway), secretFor, workspaceId: managed.id, close: () => gateway.close() }
}

interface Call {
  readonly method: string
  readonly path: string
  readonly text: string
  readonly secret: string
}

async function answerOf(api: Api, { method, path, text, secret }: Call): Promise<Omit<Sent, 'cpuMs'>> {
  const headers = new Map([
    ['authorization', `Bearer ${secret}`],
    ['content-type', 'application/json'],
  ])
  const reply = await api({
    method,
    path,
    query: '',
    header: name => headers.get(name),
    text: async () => ({ ok: true, text }),
    signal: new AbortController().signal,
  })
  let body = ''
  if (typeof reply.body === 'string') body = reply.body
  else {
    const chunks = asIterator(reply.body)
    for (let step = await chunks.next(); !step.done; step = await chunks.next()) body += step.value
  }
  return { status: reply.status, code: reply.status < 400 ? '' : codeOf(body) }
}

const codeOf = (body: string): string => /"code":"(\w+)"/.exec(body)?.[1] ?? ''

/** Every row that takes a body and is no inference. */
export const managementRows = routes.filter(row => row.body !== undefined && row.rate !== 'inference')

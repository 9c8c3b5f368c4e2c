import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { serve } from '@signalbox/node-http'
import { expect } from 'vitest'
import type { AnswerContent } from '../../src/answers/index.ts'
import { type Act, acts, scriptedProvider, testGateway } from '../../src/index.ts'
import { repeatedPrefixes, sharedPrefixes } from '../drivers/prefix.ts'
import type { ProviderTraits } from '../drivers/provider-traits.ts'
import { type CodingAgent, callIn, type Ended, run, type Workplace } from './agent.ts'
import { startRelay } from './relay.ts'

// The task of six steps as a coding agent does it, with its own tools on files on the disk: read a file, three tools at once, edit, a
// second turn, compaction and a turn after it, and a structured result. Each turn is a process of its own.

const original = { 'a.txt': 'alpha\n', 'b.txt': 'Grüße, 世界 "quoted"\n', 'c.txt': 'gamma\n' }
const change = { file: 'a.txt', from: 'alpha', to: 'alpha\nbeta "2"' }
const result = { files: '3', done: 'yes' }
const schema = {
  type: 'object',
  properties: { files: { type: 'string' }, done: { type: 'string' } },
  required: ['files', 'done'],
  additionalProperties: false,
}

/** What happened beside the answers. */
export interface Observed {
  /** Hosts that the agent requested from its proxy, all refused. */
  readonly hosts: ReadonlySet<string>
  /** Believed warm tokens of each turn of the model. */
  readonly warmTokens: readonly number[]
  readonly prefixes: readonly (true | number)[]
  /** Of the bytes of each request as they were sent, the share that the next one begins with. */
  readonly shares: readonly number[]
  /** Milliseconds to the first byte of each answer. */
  readonly waits: readonly number[]
  readonly errors: string
}

export async function doTask(agent: CodingAgent, traits: ProviderTraits, programs: string): Promise<Observed> {
  const home = mkdtempSync(join(tmpdir(), 'coding-agent-'))
  const place: Workplace = { home, project: join(home, 'project') }
  mkdirSync(place.project)
  for (const [name, text] of Object.entries(original)) writeFileSync(join(place.project, name), text)
  const model = playModel(agent, traits, place)
  const price = { input: 1_000_000, output: 2_000_000, cached: 100_000 }
  const offers = model.providers.map(({ id }) => ({ provider: id, api: traits.dialect.name, model: 'theirs', price }))
  const testbed = await testGateway({
    providers: model.providers,
    models: [{ id: agent.model, offers }],
    strategy: 'balanced',
  })
  const server = await serve(testbed.gateway, { port: 0 })
  const proxy = await refusingProxy()
  const relay = await startRelay(server.url)
  const reached = { url: relay.url, secret: testbed.secret }
  agent.setUp(place, reached)
  const env = { ...plainEnv(place, proxy.url), ...agent.env(place, reached) }
  const ended: Ended[] = []
  const start = async (args: readonly string[]): Promise<string> => {
    const end = await run(join(programs, agent.program), args, { cwd: place.project, env })
    ended.push(end)
    expect(end.code, `${args.join(' ')}\n${end.printed.slice(-3_000)}\n${end.errors.slice(-3_000)}`).toBe(0)
    return end.printed
  }
  const turn = async (prompt: string, isFirst = false): Promise<string> => agent.answerIn(await start(agent.turn(prompt, isFirst, place)))
  try {
    expect(await turn('Add a line to a.txt.', true)).toContain('Edited.')
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe(`${change.to}\n`)
    expect(await turn('Is it right?')).toContain('Checked.')
    // Some compact at once.
    const turns = model.calls.slice(0, 6)
    const said = JSON.stringify(turns.at(-1))
    for (const text of ['alpha', 'Grüße, 世界', 'gamma', 'c.txt', 'Add a line to a.txt.', 'Edited.', 'Is it right?'])
      expect(said).toContain(text)
    if ('prompt' in agent.compacts) await start(agent.turn(agent.compacts.prompt, false, place))
    expect(await turn('Go on.')).toContain('Resumed.')
    expect(model.kinds.filter(kind => kind === 'summary')).toHaveLength(1)
    expect(JSON.stringify(model.calls.at(-1))).toContain('SUMMARY-7')
    if (agent.result) expect(agent.result.resultIn(await start(agent.result.turn('Report.', schema, place)))).toEqual(result)
    const { decisions } = testbed.gateway.decisionLog.trace()
    return {
      hosts: proxy.hosts,
      waits: relay.waits,
      warmTokens: decisions
        .filter((_, at) => model.kinds[at] === 'turn')
        .map(({ candidates }) => Math.max(...candidates.map(({ estimate }) => estimate?.cachedTokens ?? 0))),
      shares: sharedPrefixes(turns.map(body => ({ body }))),
      prefixes: repeatedPrefixes(turns.map(body => ({ body: comparable(body) }))),
      errors: ended.map(({ errors, printed }) => errors + printed).join('\n'),
    }
  } finally {
    await relay.close()
    await server.close()
    await testbed.close()
    await proxy.close()
    rmSync(home, { recursive: true, force: true })
  }
}

const summary = '<summary>SUMMARY-7: a line was added to a.txt.</summary>'

/** Fields that say something of the request, or of what may be cached, and nothing to the model. */
const marks: ReadonlySet<string> = new Set([
  ...['client_metadata', 'internal_chat_message_metadata_passthrough'],
  ...['cache_control', 'cachePoint', 'prompt_cache_breakpoint'],
])

/**
 * A body without such marks, its fields in one order: a conversation that went on over one WebSocket has the items as the gateway keeps
 * them, and after that as the agent writes them.
 */
const comparable = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).flatMap(([field, value]) => (marks.has(field) ? [] : [[field, sorted(value)]])))

function sorted(value: Json | undefined): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).filter(inner => !isMark(inner)).map(sorted)
  if (!isObject(value)) return value ?? null
  const fields = Object.entries(value).filter(([field, inner]) => inner !== null && !marks.has(field))
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([field, inner]) => [field, sorted(inner)]))
}

const isMark = (value: Json): boolean => isObject(value) && Object.keys(value).every(field => marks.has(field))

/** A model that does the task, and answers what agents ask beside it: titles and summaries. */
function playModel(agent: CodingAgent, traits: ProviderTraits, place: Workplace) {
  let ids = 0
  const call = (called: Parameters<typeof callIn>[1]) => callIn(traits, called, `call_${++ids}of9`)
  const { tools, compacts } = agent
  const full = 'inputTokens' in compacts ? { usage: { input: compacts.inputTokens, output: 2 } } : {}
  const steps: AnswerContent[] = [
    { reasoning: 'First I read.', text: 'Reading.', tools: [call(tools.read(place, 'a.txt'))] },
    { reasoning: 'Now all.', tools: tools.readThree(place, ['b.txt', 'c.txt']).map(call) },
    { reasoning: 'Now I write.', tools: [call(tools.edit(place, change))] },
    { text: 'Edited.' },
    { reasoning: 'Once more.', tools: [call(tools.read(place, 'a.txt'))] },
    { text: 'Checked.', ...full },
  ]
  const calls: JsonObject[] = []
  const kinds: ('summary' | 'title' | 'turn')[] = []
  const act: Act = context => {
    for (const provider of providers) provider.play(act)
    const conversation = objects(context.body[traits.dialect.conversationField ?? 'messages'])
    const end = JSON.stringify(conversation.findLast(({ role }) => role !== 'system' && role !== 'developer') ?? {})
    const isSummary = agent.asksForSummary.test(end) && !end.includes('SUMMARY-7')
    const kind = isSummary ? 'summary' : hasTools(context.body) ? 'turn' : 'title'
    kinds.push(kind)
    if (kind !== 'turn') return acts.reply(isSummary ? summary : 'A title')(context)
    calls.push(context.body)
    if (end.includes('Report.')) return acts.reply(resultOf(context.body))(context)
    return acts.reply(end.includes('Go on.') ? 'Resumed.' : (steps.shift() ?? 'Done.'))(context)
  }
  const resultOf = (body: JsonObject): AnswerContent =>
    agent.result?.tool ? { tools: [call({ name: agent.result.tool, arguments: result })] } : shaped(traits, body)
  // Two, so that a conversation can leave the prompt cache that it is in.
  const providers = ['one', 'two'].map(id => scriptedProvider({ id, dialect: traits.dialect, acts: [act] }))
  return { providers, calls, kinds }
}

/** If a schema is described in the prompt, the response is text. */
const shaped = (traits: ProviderTraits, body: JsonObject): AnswerContent => {
  const text = JSON.stringify(result)
  const said = traits.shaped(text)
  return (said.tools ?? []).every(({ name }) => JSON.stringify(body.toolConfig ?? '').includes(`"name":"${name}"`)) ? said : { text }
}

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []

/** Beside the conversation or in it. */
const hasTools = (body: JsonObject): boolean => JSON.stringify(body).includes('"tools":')

const plainEnv = ({ home }: Workplace, proxy: string): Readonly<Record<string, string>> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
  XDG_CACHE_HOME: join(home, 'cache'),
  XDG_STATE_HOME: join(home, 'state'),
  TERM: 'dumb',
  ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map(name => [name, proxy])),
  ...Object.fromEntries(['NO_PROXY', 'no_proxy'].map(name => [name, '127.0.0.1,localhost'])),
})

/** A proxy that refuses every host, so that an agent talks to 127.0.0.1 alone. */
async function refusingProxy() {
  const hosts = new Set<string>()
  const server = createServer((request, response) => {
    hosts.add(request.url ?? '')
    response.writeHead(403).end()
  })
  server.on('connect', (request, socket) => {
    hosts.add(request.url ?? '')
    socket.on('error', () => {}).end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, hosts, close }
}

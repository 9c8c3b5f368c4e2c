import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import { expect } from 'vitest'
import { type Act, acts, type ScriptedProvider } from '../../src/index.ts'
import { found, type ProviderTraits } from '../drivers/provider-traits.ts'

// A task of six steps that every agent does in every dialect: read a file, call three tools at once, edit, a second turn, go on from
// a stored conversation, and a structured result.

/** A tool of the task, without the types of any SDK. */
export interface TaskTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject & { readonly type: 'object'; readonly properties: JsonObject; readonly required: readonly string[] }
  readonly run: (input: Readonly<Record<string, string>>) => string
}

/** A conversation of one agent. */
export interface AgentSession {
  /** Sends a message, runs the tools that are called, and returns the final text. */
  send(text: string): Promise<string>
  /** The same conversation in a new agent, from what was stored of it as JSON. */
  resume(): Promise<AgentSession>
  /** Sends a message, and returns the answer as an object of the schema. */
  result(text: string, schema: JsonObject): Promise<unknown>
}

/** How an agent reaches the gateway. */
export interface AgentTestbed {
  readonly gateway: Gateway
  readonly secret: string
  /** Of a server on a socket. */
  readonly url: string
}

/** An SDK with a provider package, as its users set it up. */
export interface AgentClient {
  readonly name: string
  /** The npm packages that decide what is sent. */
  readonly packages: readonly string[]
  /** It asks for a structured result by a tool of this name. */
  readonly resultTool?: string
  /** It keeps no reasoning, or none with its state. */
  readonly losesReasoning?: true
  start(testbed: AgentTestbed, tools: readonly TaskTool[]): AgentSession
}

/** The id of the model. */
export const model = 'test-model'
export const instructions = 'You edit files.'

const parameters = (...names: readonly string[]): TaskTool['parameters'] => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
})

/** A folder in memory, and the tools that work on it. */
function taskFolder(): { readonly files: Map<string, string>; readonly tools: readonly TaskTool[] } {
  const files = new Map([
    ['a.txt', 'alpha'],
    ['b.txt', 'Grüße, 世界 "quoted"\n'],
    ['c.txt', 'gamma'],
  ])
  const tools: readonly TaskTool[] = [
    {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: parameters('path'),
      run: ({ path = '' }) => files.get(path) ?? 'No such file.',
    },
    { name: 'list_files', description: 'Lists a folder.', parameters: parameters('path'), run: () => [...files.keys()].join(' ') },
    {
      name: 'edit_file',
      description: 'Writes a file.',
      parameters: parameters('path', 'text'),
      run({ path = '', text = '' }) {
        files.set(path, text)
        return 'Written.'
      },
    },
  ]
  return { files, tools }
}

const edited = 'alpha\nbeta "2"'
const result = { files: '3', done: 'yes' }
const resultSchema: JsonObject = { ...parameters('files', 'done') }

/** What the model answers, step by step. */
export function taskScript(traits: ProviderTraits, client: AgentClient): readonly Act[] {
  let calls = 0
  // As with real vendors no id comes twice in a conversation.
  const call = (name: string, input: JsonObject) => ({ id: `call_${++calls}of7`, name, arguments: JSON.stringify(input) })
  return [
    acts.reply({ reasoning: 'First I read.', text: 'Reading.', tools: [call('read_file', { path: 'a.txt' })] }),
    acts.reply({
      reasoning: 'Now all.',
      tools: [call('read_file', { path: 'b.txt' }), call('read_file', { path: 'c.txt' }), call('list_files', { path: '.' })],
    }),
    acts.reply({ reasoning: 'Now I write.', tools: [call('edit_file', { path: 'a.txt', text: edited })] }),
    acts.reply('Edited.'),
    acts.reply({ reasoning: 'Once more.', tools: [call('read_file', { path: 'a.txt' })] }),
    acts.reply('Checked.'),
    acts.reply('Resumed.'),
    acts.reply(client.resultTool === undefined ? traits.shaped(JSON.stringify(result)) : { tools: [call(client.resultTool, result)] }),
  ]
}

/** Does the task, and checks the folder, the answers, and what the provider was sent last. */
export async function doTask(
  client: AgentClient,
  testbed: AgentTestbed,
  { provider, traits }: { provider: ScriptedProvider; traits: ProviderTraits },
) {
  const { files, tools } = taskFolder()
  const session = client.start(testbed, tools)
  expect(await session.send('Add a line to a.txt.')).toContain('Edited.')
  expect(files.get('a.txt')).toBe(edited)
  expect(await session.send('Is it right?')).toContain('Checked.')
  const resumed = await session.resume()
  expect(await resumed.send('Go on.')).toContain('Resumed.')
  const before = provider.calls.at(-1)?.body
  expect(await resumed.result('Report.', resultSchema)).toEqual(result)

  // One client keeps a call twice, in the message and beside it, and sends both under one id.
  const calls = [...new Map(found(before, traits.call).map(each => [each.id, each])).values()]
  expect(calls.map(({ name, arguments: input }) => [name, JSON.parse(input)])).toEqual([
    ['read_file', { path: 'a.txt' }],
    ['read_file', { path: 'b.txt' }],
    ['read_file', { path: 'c.txt' }],
    ['list_files', { path: '.' }],
    ['edit_file', { path: 'a.txt', text: edited }],
    ['read_file', { path: 'a.txt' }],
  ])
  const results = found(before, traits.result)
  expect(results.map(({ output }) => output)).toEqual(['alpha', 'Grüße, 世界 "quoted"\n', 'gamma', 'a.txt b.txt c.txt', 'Written.', edited])
  expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
  const texts = textsIn(before ?? {})
  for (const said of [instructions, 'Add a line to a.txt.', 'Edited.', 'Is it right?', 'Checked.', 'Go on.']) expect(texts).toContain(said)
  if (traits.signature && !client.losesReasoning) expect(texts).toContain(traits.signature)
}

/** All texts of a body, each between line breaks. */
function textsIn(value: Json | undefined): string {
  if (typeof value === 'string') return `${value}\n`
  if (Array.isArray(value)) return (value as readonly Json[]).map(textsIn).join('')
  return isObject(value) ? Object.values(value).map(textsIn).join('') : ''
}

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../../..')

/** One block of code of a page, which its first line names: `// server.ts`. */
export interface PageBlock {
  /** `server.ts`. */
  readonly file: string
  readonly code: string
}

/** The blocks of a page that name their file, as they stand. */
export const blocksOf = (page: string): readonly PageBlock[] =>
  [...readFileSync(resolve(root, page), 'utf8').matchAll(/^```tsx?\n(\/\/ (\S+\.tsx?)\n[\s\S]*?)^```/gm)].map(
    ([, code = '', file = '']) => ({ file, code }),
  )

/** A file of a page of docs/getting-started: `startBlock('node', 'server.ts')`. */
export function startBlock(page: string, file: string): string {
  const block = blocksOf(`docs/getting-started/${page}.md`).find(each => each.file === file)
  if (!block) throw new Error(`docs/getting-started/${page}.md has no block for ${file}.`)
  return block.code
}

/** The gateway of docs/embed.md, with its local provider at a port of 127.0.0.1 and another database file. */
export function embedBlock(port: number, database: string): string {
  const code = blocksOf('docs/embed.md').find(({ file }) => file === 'gateway.ts')?.code ?? ''
  return code.replace('11434', String(port)).replace('signalbox.db', database)
}

/** The gateway of the pages, with OpenAI at a port of 127.0.0.1 and another database file. */
export const gatewayBlock = (port: number, database = 'signalbox.db'): string =>
  startBlock('node', 'gateway.ts')
    .replace('openai({ apiKey: OPENAI_API_KEY })', `openai({ apiKey: 'sk-nobody', baseURL: 'http://127.0.0.1:${port}/v1' })`)
    .replace('signalbox.db', database)

/** What a provider answers that runs on 127.0.0.1, in the dialect of its path: a function of Web values, so that every runtime has it. */
export const fakeProvider = `
globalThis.fakeProvider = async request => {
  const isChat = new URL(request.url).pathname.endsWith('/chat/completions')
  const { stream } = await request.json()
  const text = 'Hello from the block.'
  const usage = isChat ? { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } : { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
  const part = { type: 'output_text', text, annotations: [] }
  const item = { id: 'm', type: 'message', role: 'assistant', status: 'completed', content: [part] }
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [item], usage }
  const chat = { id: 'c', created: 1, model: 'm' }
  if (!stream && !isChat) return Response.json(response)
  if (!stream) return Response.json({ ...chat, object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage })
  const chunk = { ...chat, object: 'chat.completion.chunk' }
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const at = { output_index: 0, item_id: 'm', content_index: 0 }
  const events = isChat
    ? [{ ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] }, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { ...chunk, choices: [], usage }]
    : [
        { type: 'response.created', response: begun },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        { type: 'response.output_text.delta', ...at, delta: text },
        { type: 'response.output_text.done', ...at, text },
        { type: 'response.content_part.done', ...at, part },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response },
      ]
  const frames = events.map((event, index) => (isChat ? '' : 'event: ' + event.type + '\\n') + 'data: ' + JSON.stringify(isChat ? event : { ...event, sequence_number: index }) + '\\n\\n')
  return new Response(frames.join('') + (isChat ? 'data: [DONE]\\n\\n' : ''), { headers: { 'content-type': 'text/event-stream' } })
}
`

/** Text of code that lets a program call the fake provider instead of the network. */
export const offline = `${fakeProvider}
globalThis.fetch = async (input, init) => globalThis.fakeProvider(new Request(input, init))
`

/** What a gateway that was made by a block answers its first users. */
export interface BlockAnswers {
  readonly whole: readonly [status: number, text: unknown]
  readonly streamed: readonly [status: number, text: string]
  readonly me: readonly [status: number, workspace: string]
  readonly stranger: number
  readonly keyId: string
  readonly isSame: boolean
}

/** What every block answers. */
export const expectedAnswers = {
  whole: [200, 'Hello from the block.'],
  streamed: [200, 'Hello from the block.'],
  me: [200, 'my-app'],
  stranger: 401,
  isSame: true,
} as const

/** Asks a gateway what its first users ask. `base` is where it is mounted. */
export async function askBlock(
  send: (request: Request) => Promise<Response>,
  key: string,
  base = 'http://gateway.example',
): Promise<BlockAnswers> {
  const ask = (
    path: string,
    { body, authorization = `Bearer ${key}` }: { body?: object; authorization?: string } = {},
  ): Promise<Response> =>
    send(
      new Request(`${base}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const question = { model: 'small', input: 'Hello' }
  // All at once, and before anything else: each of them may be the first.
  const [whole, streamed, me, stranger] = await Promise.all([
    ask('/v1/responses', { body: question }),
    ask('/v1/responses', { body: { ...question, stream: true } }),
    ask('/v1/me'),
    ask('/v1/me', { authorization: '' }),
  ])
  const answer = await whole.json()
  const identity = await me.json()
  const again = await (await ask('/v1/me')).json()
  const deltas = [...(await streamed.text()).matchAll(/^event: response\.output_text\.delta\ndata: (.*)$/gm)]
  return {
    whole: [whole.status, answer.output?.[0]?.content?.[0]?.text ?? answer],
    streamed: [streamed.status, deltas.map(([, data = '{}']) => JSON.parse(data).delta).join('')],
    me: [me.status, identity.workspace?.id],
    stranger: stranger.status,
    keyId: identity.key_id,
    isSame: identity.key_id === again.key_id,
  }
}

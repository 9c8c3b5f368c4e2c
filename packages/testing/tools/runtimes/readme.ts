import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const page = readFileSync(resolve(import.meta.dirname, '../../../../README.md'), 'utf8')

/** The block under "Embed it", as it stands. */
export const embedding = /## Embed it\n+```ts\n([\s\S]*?)\n```/.exec(page)?.[1] ?? ''

/** The line that the block names for a place, as in `Workers`. */
export function mountLine(place: string): string {
  const line = embedding.split('\n').find(each => each.startsWith(`// ${place}`))
  const code = line?.slice(line.indexOf(': ') + 2)
  if (!code) throw new Error(`README.md names no line for ${place}.`)
  return code
}

/** The block with the storage that it names for what shall last. */
export function lastingEmbedding(file: string): string {
  const [, call = '', from = ''] = /to outlive the process: (sqliteStorage\('signalbox\.db'\)) from (\S+)/.exec(embedding) ?? []
  const chosen = embedding.replace('memoryStorage(),', `${call.replace('signalbox.db', file)},`)
  return `import { sqliteStorage } from '${from}'\n${chosen}`
}

/** A provider without a network: the one of the block that needs no key. */
export const offline = `
globalThis.fetch = async input => {
  const url = String(input instanceof Request ? input.url : input)
  if (!url.startsWith('http://127.0.0.1:11434/v1/chat/completions')) return new Response('no', { status: 404 })
  const message = { role: 'assistant', content: 'Hello from the block.' }
  return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'llama3.2', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } })
}
`

/** Asks a handler what its first users ask. Text, since it runs in every runtime; `prefix` is where it is mounted. */
export const probe = `
async function probe(handle, prefix = '') {
  const key = process.env.GATEWAY_KEY
  const ask = async (method, path, { body, headers = { authorization: 'Bearer ' + key } } = {}) => {
    const init = { method, headers: { ...headers, 'content-type': 'application/json' } }
    if (body) init.body = JSON.stringify(body)
    const response = await handle(new Request('http://gateway.example' + prefix + path, init))
    return { status: response.status, json: await response.json() }
  }
  // All at once, and before anything else: each of them may be the first.
  const [answer, me, stranger] = await Promise.all([
    ask('POST', '/v1/responses', { body: { model: 'small', input: 'Hello' } }),
    ask('GET', '/v1/me'),
    ask('GET', '/v1/me', { headers: {} }),
  ])
  const again = await ask('GET', '/v1/me')
  return {
    answer: [answer.status, answer.json.output?.[0]?.content?.[0]?.text ?? answer.json],
    me: [me.status, me.json.workspace?.id],
    stranger: stranger.status,
    keyId: me.json.key_id,
    isSame: me.json.key_id === again.json.key_id,
  }
}
`

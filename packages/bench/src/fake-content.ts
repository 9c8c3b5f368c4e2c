import type { Dialect } from './dialects.ts'

/** The content of the fake provider, which the load generator verifies on the other side. */
export interface Speech {
  /** A whole response of about 600 bytes. */
  readonly whole: string
  readonly head: Uint8Array
  readonly delta: (text: string) => Uint8Array
  readonly tail: Uint8Array
}

/** The content type of a stream. */
export const streamType = 'text/event-stream; charset=utf-8'

/** Occurs once in the wire text of each delta. */
export const deltaMark: Readonly<Record<Dialect, string>> = {
  responses: '"type":"response.output_text.delta"',
  chat: '"delta":{"content":',
}

export const deltas = 100
const answer =
  'Once there was a signalbox at a junction where seven lines met, and each train asked it for one thing only: the fastest way home.'

const usage = { input_tokens: 30, output_tokens: 100, total_tokens: 130 }
const created = 1_770_000_000

interface Text {
  readonly whole: string
  readonly head: string
  readonly delta: (text: string) => string
  readonly tail: string
}

const events = ({ whole, head, delta, tail }: Text): Speech => ({
  whole,
  head: Buffer.from(head),
  delta: text => Buffer.from(delta(text)),
  tail: Buffer.from(tail),
})

const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

function responses(): Text {
  const item_id = 'msg_68a1f0c2d4e6'
  const at = { item_id, output_index: 0, content_index: 0 }
  const part = (text: string): object => ({ type: 'output_text', text, annotations: [] })
  const message = (status: string, text?: string): object => ({
    id: item_id,
    type: 'message',
    role: 'assistant',
    status,
    content: text === undefined ? [] : [part(text)],
  })
  const response = (status: string, more: object = {}): object => ({
    id: 'resp_68a1f0c2d4e5',
    object: 'response',
    created_at: created,
    model: 'bench',
    status,
    output: [],
    ...more,
  })
  const said = { output: [message('completed', answer)], usage }
  return {
    whole: JSON.stringify(
      response('completed', { ...said, parallel_tool_calls: true, tool_choice: 'auto', temperature: 1, top_p: 1, store: false }),
    ),
    head: [
      event('response.created', { response: response('in_progress') }),
      event('response.in_progress', { response: response('in_progress') }),
      event('response.output_item.added', { output_index: 0, item: message('in_progress') }),
      event('response.content_part.added', { ...at, part: part('') }),
    ].join(''),
    delta: text => event('response.output_text.delta', { ...at, delta: text, logprobs: [], obfuscation: 'k3jf82' }),
    tail: [
      event('response.output_text.done', { ...at, text: answer }),
      event('response.content_part.done', { ...at, part: part(answer) }),
      event('response.output_item.done', { output_index: 0, item: message('completed', answer) }),
      event('response.completed', { response: response('completed', said) }),
    ].join(''),
  }
}

function chat(): Text {
  const facts = { id: 'chatcmpl-68a1f0c2d4e5', created, model: 'bench', service_tier: 'default', system_fingerprint: 'fp_bench' }
  const counted = { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens, total_tokens: usage.total_tokens }
  const details = { prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } }
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices, ...more })}\n\n`
  const choice = (delta: object, finish_reason: string | null = null): object => ({ index: 0, delta, logprobs: null, finish_reason })
  const message = { role: 'assistant', content: answer, refusal: null, annotations: [] }
  return {
    whole: JSON.stringify({
      ...facts,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: { ...counted, ...details },
    }),
    head: chunk([choice({ role: 'assistant', content: '' })]),
    delta: text => chunk([choice({ content: text })]),
    tail: `${chunk([choice({}, 'stop')])}${chunk([], { usage: { ...counted, ...details } })}data: [DONE]\n\n`,
  }
}

/** In the vendor's own format, where a chunk mostly consists of repeated fields. */
export const speeches: Readonly<Record<Dialect, Speech>> = {
  responses: events(responses()),
  chat: events(chat()),
}

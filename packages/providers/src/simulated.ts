import type { Clock } from '@signalbox/core/runtime'
import { webClock } from '@signalbox/core/runtime'
import type { LocalAnswer, Provider } from '@signalbox/dialects/protocol'
import { type Frame, isObject, type Json, type JsonObject, own } from '@signalbox/dialects/protocol'
import { chatProvider } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { providerOptions } from './provider-options.ts'

/** Options of `simulated`: speed and failure rate. */
export interface SimulatedOptions<Id extends string = string> {
  readonly id: Id
  /** Milliseconds until the first word. Default: 50. */
  readonly firstWordMs?: number
  /** Milliseconds between words. Default: 10. */
  readonly wordMs?: number
  /** Every n-th call fails with a 503; 0 means never. Default: 0. */
  readonly failEvery?: number
  readonly clock?: Clock
}

const simulatedOptions: OptionTableOf<SimulatedOptions> = {
  id: 'text',
  firstWordMs: 'number',
  wordMs: 'number',
  failEvery: 'number',
  clock: 'object',
}

/** Responses of the simulated models, by provider model id. */
const responders: Readonly<Record<string, (prompt: string) => string>> = {
  echo: prompt => prompt || 'Say something, and I will say it back.',
  story: prompt =>
    `Once there was a signalbox at a junction where seven lines met. Trains came from everywhere, and each asked for one thing: ${prompt || 'the fastest way home'}. The keeper looked at the boards, at the weather and at the price of coal, pulled one lever, and the points moved. When a line was blocked, another was set before the train had stopped. In the morning the ledger was right to the last penny, and nobody had noticed the night. The end.`,
}

/**
 * A provider that runs in this process and needs no network. It supports Chat Completions, streams word by word, counts tokens, and fails
 * on demand, so that routing, fallback, streaming and cost can be tried offline.
 *
 * @example simulated({ id: 'sim-flaky', failEvery: 2 })
 */
export function simulated<const Id extends string>(options: SimulatedOptions<Id>): Provider<Id> {
  const { id } = options
  const { firstWordMs = 50, wordMs = 10, failEvery = 0, clock = webClock() } = providerOptions('simulated', options, simulatedOptions)
  let calls = 0
  const answer: LocalAnswer = async ({ body, stream, signal }) => {
    calls += 1
    if (failEvery > 0 && calls % failEvery === 0) {
      return {
        status: 503,
        body: { error: { message: 'Simulated outage.', type: 'server_error', param: null, code: 'server_is_overloaded' } },
      }
    }
    const text = respondTo(body)
    const facts = { id: `chatcmpl-sim-${calls}`, created: Math.floor(clock.now() / 1000), model: body.model ?? id }
    const usage = usageOf(body, text)
    await wait(clock, firstWordMs, signal)
    if (stream) return { status: 200, frames: speak(text, { facts, usage, clock, wordMs, signal }) }
    const message = { role: 'assistant', content: text }
    return { status: 200, body: { ...facts, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage } }
  }
  return {
    id,
    displayName: `Simulated (${id})`,
    dialects: [chatProvider],
    credential: { id: `${id}:platform`, owner: 'platform', secret: '' },
    dataPolicy: 'zdr',
    endpoint: () => `sim://${id}`,
    authorize: () => {},
    answer,
  }
}

/** Responds to the last user message, truncated at the output limit. */
function respondTo(body: JsonObject): string {
  const messages = Array.isArray(body.messages) ? (body.messages as readonly Json[]) : []
  const last = messages.filter(message => isObject(message) && message.role === 'user').at(-1)
  const content = isObject(last) ? last.content : undefined
  const prompt = typeof content === 'string' ? content : contentText(content)
  return (own(responders, String(body.model)) ?? (text => text))(prompt)
}

const contentText = (content: Json | undefined): string =>
  Array.isArray(content) ? content.map((part: Json) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('') : ''

function usageOf(body: JsonObject, text: string): JsonObject {
  const prompt_tokens = Math.ceil(JSON.stringify(body.messages ?? '').length / 4)
  const completion_tokens = Math.ceil(text.length / 4)
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

interface SimulatedReply {
  readonly facts: JsonObject
  readonly usage: JsonObject
  readonly clock: Clock
  readonly wordMs: number
  readonly signal: AbortSignal
}

async function* speak(text: string, { facts, usage, clock, wordMs, signal }: SimulatedReply): AsyncGenerator<readonly Frame[]> {
  const chunk = (delta: JsonObject, more: JsonObject = {}): Frame => ({
    data: JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] }),
  })
  yield [chunk({ role: 'assistant', content: '' })]
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
    await wait(clock, wordMs, signal)
    yield [chunk({ content: word })]
  }
  yield [
    chunk({}, { finish_reason: 'stop' }),
    { data: JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices: [], usage }) },
    { data: '[DONE]' },
  ]
}

/** Resolves after the delay, or rejects when the request is aborted. */
const wait = (clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const leave = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', leave, { once: true })
  })

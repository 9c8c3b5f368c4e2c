import { describe, expect, test } from 'vitest'
import { bedrockRecordings } from '../../test/bedrock-wire.ts'
import { decode } from '../../test/laws.ts'
import { recordings } from '../../test/recordings.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'

// Compares each vendor's counts, added up by the vendor's rules, with what the gateway computes and what each client receives. Cached
// tokens count once.

interface Counted {
  readonly input: number
  readonly cached: number
  readonly written: number
  readonly output: number
  readonly reasoning: number
}

const at = (value: Json | undefined, ...path: readonly string[]): number => {
  let here: Json | undefined = value
  for (const key of path) here = isObject(here) ? here[key] : undefined
  return typeof here === 'number' ? here : 0
}

/** The last value of the field among all frames, at any depth. */
function last(frames: readonly JsonObject[], find: (frame: JsonObject) => Json | undefined): JsonObject | undefined {
  const found = frames.map(find).filter(isObject)
  return found.at(-1)
}

const readers: Readonly<Record<string, (frames: readonly JsonObject[]) => Counted | undefined>> = {
  responses: frames => {
    const usage = last(frames, ({ response }) => (isObject(response) ? response.usage : undefined))
    return (
      usage && {
        input: at(usage, 'input_tokens'),
        cached: at(usage, 'input_tokens_details', 'cached_tokens'),
        written: at(usage, 'input_tokens_details', 'cache_write_tokens'),
        output: at(usage, 'output_tokens'),
        reasoning: at(usage, 'output_tokens_details', 'reasoning_tokens'),
      }
    )
  },
  chat: frames => {
    const usage = last(frames, ({ usage: own, x_groq }) => own ?? (isObject(x_groq) ? x_groq.usage : undefined))
    if (!usage) return undefined
    const reasoning = at(usage, 'completion_tokens_details', 'reasoning_tokens')
    const output = at(usage, 'completion_tokens')
    // One vendor counts reasoning outside of the completion, as its total shows.
    const beside = at(usage, 'total_tokens') === at(usage, 'prompt_tokens') + output + reasoning
    return {
      input: at(usage, 'prompt_tokens'),
      cached: at(usage, 'prompt_tokens_details', 'cached_tokens') || at(usage, 'prompt_cache_hit_tokens'),
      written: 0,
      output: beside ? output + reasoning : output,
      reasoning,
    }
  },
  messages: frames => {
    const start = last(frames, ({ message }) => (isObject(message) ? message.usage : undefined))
    const delta = last(frames, ({ type, usage }) => (type === 'message_delta' ? usage : undefined))
    if (!start && !delta) return undefined
    const usage = { ...start, ...Object.fromEntries(Object.entries(delta ?? {}).filter(([, value]) => value !== null)) }
    const cached = at(usage, 'cache_read_input_tokens')
    const written = at(usage, 'cache_creation_input_tokens')
    return {
      input: at(usage, 'input_tokens') + cached + written,
      cached,
      written,
      output: at(usage, 'output_tokens'),
      reasoning: at(usage, 'output_tokens_details', 'thinking_tokens'),
    }
  },
  bedrock: frames => {
    const usage = last(frames, ({ usage: counts }) => counts)
    const cached = at(usage, 'cacheReadInputTokens')
    const written = at(usage, 'cacheWriteInputTokens')
    return { input: at(usage, 'inputTokens') + cached + written, cached, written, output: at(usage, 'outputTokens'), reasoning: 0 }
  },
  gemini: frames => {
    const usage: JsonObject = Object.assign({}, ...frames.map(({ usageMetadata }) => usageMetadata).filter(isObject))
    const reasoning = at(usage, 'thoughtsTokenCount')
    return {
      input: at(usage, 'promptTokenCount') + at(usage, 'toolUsePromptTokenCount'),
      cached: at(usage, 'cachedContentTokenCount'),
      written: 0,
      output: at(usage, 'candidatesTokenCount') + reasoning,
      reasoning,
    }
  },
}

function parsed(data: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}

const metadata: ResponseMetadata = { id: 'resp_1', model: 'm', created_at: 1, itemId: prefix => `${prefix}_1`, warnings: [] }
const requests = {
  responses: responsesClient.decodeRequest({ model: 'm', input: 'Hi' }),
  chat: chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  messages: messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
}

const clientCounts: readonly (readonly [string, (response: InferenceResponse) => Counted])[] = [
  [
    'responses',
    response => {
      const { usage } = responsesClient.encodeResponse(response, requests.responses, metadata)
      return {
        input: at(usage, 'input_tokens'),
        cached: at(usage, 'input_tokens_details', 'cached_tokens'),
        written: at(usage, 'input_tokens_details', 'cache_write_tokens'),
        output: at(usage, 'output_tokens'),
        reasoning: at(usage, 'output_tokens_details', 'reasoning_tokens'),
      }
    },
  ],
  [
    'chat',
    response => {
      const { usage } = chatClient.encodeResponse(response, requests.chat, metadata)
      return {
        input: at(usage, 'prompt_tokens'),
        cached: at(usage, 'prompt_tokens_details', 'cached_tokens'),
        written: at(usage, 'prompt_tokens_details', 'cache_write_tokens'),
        output: at(usage, 'completion_tokens'),
        reasoning: at(usage, 'completion_tokens_details', 'reasoning_tokens'),
      }
    },
  ],
  [
    'messages',
    response => {
      const { usage } = messagesClient.encodeResponse(response, requests.messages, metadata)
      const cached = at(usage, 'cache_read_input_tokens')
      const written = at(usage, 'cache_creation_input_tokens')
      return {
        input: at(usage, 'input_tokens') + cached + written,
        cached,
        written,
        output: at(usage, 'output_tokens'),
        reasoning: at(usage, 'output_tokens_details', 'thinking_tokens'),
      }
    },
  ],
]

/** Bedrock frames are binary and stored separately. */
const all = [...recordings, ...bedrockRecordings.map(({ name, frames }) => ({ name, dialect: 'bedrock', frames }))]

describe('usage', () => {
  const counted = all.flatMap(({ name, dialect, frames }) => {
    const vendor = readers[dialect]?.(frames.flatMap(({ data }) => parsed(data)))
    return vendor && vendor.input + vendor.output > 0 ? [{ name, dialect, frames, vendor }] : []
  })

  test('nearly every recording has usage', () => {
    expect(counted.length).toBeGreaterThan(recordings.length * 0.7)
  })

  test.each(counted)('$name: every client receives the vendor’s counts', ({ dialect, frames, vendor }) => {
    const provider = providerDialects[dialect]
    if (!provider) throw new Error(`Nobody speaks ${dialect}.`)
    const response = fold(decode(provider, frames))
    const steps = response.usage?.extra_steps
    const billed = steps ? { ...vendor, input: vendor.input + steps.input_tokens, output: vendor.output + steps.output_tokens } : vendor
    // A Messages client reads how full the context is from the totals of the provider.
    for (const [client, countsOf] of clientCounts) expect(countsOf(response)).toEqual(client === 'messages' ? vendor : billed)
  })
})

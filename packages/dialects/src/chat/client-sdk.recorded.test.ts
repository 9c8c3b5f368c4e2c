import { Ajv, type ValidateFunction } from 'ajv'
import { describe, expect, test } from 'vitest'
import { decode, faultsOf, metadataOf, plain } from '../../test/laws.ts'
import { calledBy, clientFor, clients, encode, eventStream, hi, readBy, request } from '../../test/openai-sdk.ts'
import { readSchema, recordings } from '../../test/recordings.ts'
import { fold, unfold } from '../protocol/fold.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { writeFrames } from '../sse/write.ts'
import { chatClient } from './client.ts'
import { chatProvider } from './provider.ts'

// Every recorded response, of every provider, is encoded in chunks, read back by our provider dialect and by two versions of the
// vendor's SDK, and validated against the vendor's API description.

const cases = recordings.map(recording => {
  const provider = providerDialects[recording.dialect]
  if (!provider) throw new Error(`no dialect ${recording.dialect}`)
  const events = decode(provider, recording.frames)
  return { name: recording.name, events, response: fold(events) }
})
const answered = cases.filter(({ response }) => response.outcome.status !== 'failed')

const isCall = (item: Item): item is FunctionCallItem => item.type === 'function_call'
const textOf = ({ output }: InferenceResponse): string =>
  output.flatMap(item => (item.type === 'message' ? item.content.map(part => (part.type === 'text' ? part.text : '')) : [])).join('')
const refusalOf = ({ output }: InferenceResponse): string =>
  output.flatMap(item => (item.type === 'message' ? item.content.map(part => (part.type === 'refusal' ? part.refusal : '')) : [])).join('')
const reasoningOf = ({ output }: InferenceResponse): string =>
  output
    .flatMap(item => (item.type === 'reasoning' ? [...(item.summary.length > 0 ? item.summary : (item.content ?? []))] : []))
    .join('\n\n')
const callsOf = ({ output }: InferenceResponse): unknown =>
  output.filter(isCall).map(({ call_id, name, arguments: written }) => [call_id, name, written])

const gist = (response: InferenceResponse): unknown =>
  plain({
    text: textOf(response),
    refusal: refusalOf(response),
    thoughts: reasoningOf(response).replaceAll('\n\n', ''),
    calls: callsOf(response),
    status: response.outcome.status,
    // Chat Completions has no field for calls of hosted tools, extra steps or price options. Its tier may be the client's.
    usage: { ...response.usage, hosted_calls: undefined, extra_steps: undefined, options: undefined, service_tier: undefined },
  })

describe('a recorded response encoded for a client and decoded again is the same (law 4)', () => {
  test.each(answered)('$name', ({ events, response }) => {
    const again = decode(chatProvider, encode(events))
    expect(faultsOf(again)).toEqual([])
    expect(gist(fold(again))).toEqual(gist(response))
    expect(gist(fold(decode(chatProvider, encode(unfold(response)))))).toEqual(gist(response))
    expect(gist(chatProvider.decodeResponse(chatClient.encodeResponse(response, request, metadataOf())))).toEqual(gist(response))
  })
})

describe.each(Object.keys(clients))('openai %s reads recorded responses', version => {
  const streamed = (text: string) =>
    clientFor(version, () => eventStream(text))
      .chat.completions.stream({ ...hi, stream_options: { include_usage: true } })
      .finalChatCompletion()

  test.each(readBy(cases, version))('$name, in chunks', async ({ events, response }) => {
    const text = writeFrames(encode(events))
    if (response.outcome.status === 'failed') {
      await expect(streamed(text)).rejects.toThrow(response.outcome.error.message)
      return
    }
    const { choices, usage, id } = await streamed(text)
    expect(id).toBe('chatcmpl-ours')
    expect(choices).toHaveLength(1)
    expect(choices[0]?.message.content ?? '').toBe(textOf(response))
    expect(choices[0]?.message.refusal ?? '').toBe(refusalOf(response))
    expect(calledBy(choices[0]?.message.tool_calls ?? [])).toEqual(callsOf(response))
    expect(usage?.total_tokens).toBe(response.usage && response.usage.input_tokens + response.usage.output_tokens)
  })

  test.each(readBy(answered, version))('$name, whole', async ({ response }) => {
    const body = chatClient.encodeResponse(response, request, metadataOf())
    const { choices, usage } = await clientFor(version, () => Response.json(body)).chat.completions.create(hi)
    expect(choices[0]?.message.content ?? '').toBe(textOf(response))
    expect(calledBy(choices[0]?.message.tool_calls ?? [])).toEqual(callsOf(response))
    expect(usage?.prompt_tokens).toBe(response.usage?.input_tokens)
  })
})

/** Known deviations from the API description. */
const deviations: readonly { readonly at: RegExp; readonly why: string }[] = [
  {
    at: /^\/choices\/\*\/(message|delta)\/annotations\/\*\/url_citation must have required property '(start_index|end_index|title)'/,
    why: 'some providers cite without saying where',
  },
]

/** Spells out `nullable` for the validator, also next to a reference or an enum. */
function spelledOut(schema: Json): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(spelledOut)
  if (!isObject(schema)) return schema
  const { nullable, ...rest } = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, spelledOut(value ?? null)]))
  if (nullable !== true) return nullable === undefined ? rest : { ...rest, nullable }
  return { anyOf: [rest, { type: 'null' }] }
}

describe('the vendor’s API description', () => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, discriminator: false })
  ajv.addSchema({ $id: 'document', ...(spelledOut(JSON.parse(readSchema('openai-subset-2026-08-21.json')) as Json) as JsonObject) })
  const validator = (name: string): ValidateFunction => ajv.compile({ $ref: `document#/components/schemas/${name}` })
  const isChunk = validator('CreateChatCompletionStreamResponse')
  const isWhole = validator('CreateChatCompletionResponse')
  const faultsIn = (validate: ValidateFunction | undefined, body: unknown): readonly string[] =>
    (validate?.(body) ? [] : (validate?.errors ?? []))
      .map(({ instancePath, message }) => `${instancePath} ${message}`.replace(/\/\d+/g, '/*'))
      .filter(fault => !deviations.some(({ at }) => at.test(fault)))

  test.each(answered)('$name', ({ events, response }) => {
    const bodies = encode(events).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as JsonObject]))
    expect([...new Set(bodies.flatMap(body => faultsIn(isChunk, body)))]).toEqual([])
    expect(faultsIn(isWhole, plain(chatClient.encodeResponse(response, request, metadataOf())))).toEqual([])
  })

  test('rejects an invalid chunk', () => {
    expect(faultsIn(isChunk, { id: 'x', choices: [{}] })).not.toEqual([])
  })
})

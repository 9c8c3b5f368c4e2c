import { describe, expect, test } from 'vitest'
import { metadataOf } from '../../test/laws.ts'
import { outputLosses } from '../clients/output-losses.ts'
import { clientDialects } from '../index.ts'
import type { ClientDialect } from '../protocol/dialect.ts'
import { unfold } from '../protocol/fold.ts'
import type { Item, Part } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { outputFeatures } from './output-features.ts'

const mark = 'bWFya2Vk'
const message = (...content: readonly Part[]): Item => ({ type: 'message', role: 'assistant', content, status: 'completed' })
const cited = (annotation: JsonObject): Item => message({ type: 'text', text: 'See it', annotations: [annotation] })
const native = (body: JsonObject, dialect = 'responses'): Item => ({ type: 'native', dialect, body })

/** An item with the feature, containing the mark. */
const samples: Readonly<Record<string, Item>> = {
  text: message({ type: 'text', text: mark }),
  refusal: message({ type: 'refusal', refusal: mark }),
  reasoning: { type: 'reasoning', summary: [mark] },
  reasoningState: { type: 'reasoning', summary: ['hm'], encrypted_content: mark },
  functionCall: { type: 'function_call', call_id: 'c1', name: 'f', arguments: `{"a":"${mark}"}`, status: 'completed' },
  customCall: { type: 'function_call', call_id: 'c1', name: 'f', arguments: `"${mark}"\n`, custom: true, status: 'completed' },
  image: native({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: mark }),
  webCitation: cited({ type: 'url_citation', url: `https://x.example/${mark}`, title: 'X', start_index: 0, end_index: 3 }),
  fileCitation: cited({ type: 'file_citation', file_id: mark, filename: 'a.txt', index: 1 }),
  documentCitation: cited(remember({ type: 'page_location', cited_text: mark, document_index: 0 }, { dialect: 'bedrock', body: {} })),
  clientTool: native({ type: 'local_shell_call', id: 'l1', call_id: 'c1', status: 'completed', action: { type: 'exec', command: [mark] } }),
  hostedTool: native({ type: 'mcp_call', id: 'm1', name: 'n', server_label: 's', arguments: '{}', output: mark }),
  other: native({ hologram: { depth: mark } }, 'gemini'),
}

const request: InferenceRequest = { prompt: { input: [] }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'stream' }
const answer = (item: Item): InferenceResponse => ({
  id: 'x',
  model: 'm',
  created_at: 1,
  output: [item],
  outcome: { status: 'completed' },
  usage: { input_tokens: 1, output_tokens: 1, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
})
const whole = (client: ClientDialect, item: Item): string => JSON.stringify(client.encodeResponse(answer(item), request, metadataOf()))
const streamed = (client: ClientDialect, item: Item): string =>
  client
    .encodeEvents(request, () => metadataOf())
    .write(unfold(answer(item)))
    .map(({ data }) => data)
    .join('\n')

const codes = (client: ClientDialect, item: Item): readonly string[] => {
  const losses = outputLosses(client, item.type === 'native' ? item.dialect : item === samples.documentCitation ? 'bedrock' : 'responses')
  losses.look(item)
  return losses.warnings().map(({ code }) => code)
}

describe.each(Object.values(clientDialects))('$name', client => {
  test.each([...outputFeatures].map(([id, { name }]) => ({ id, name })))('$name: a sample has the fate that the table states', ({ id }) => {
    const item = samples[id]
    const fate = client.outputFidelity?.[id]
    if (!item || !fate) throw new Error(`"${id}" has no sample.`)
    const isSent = fate !== 'dropped'
    expect(whole(client, item).includes(mark)).toBe(isSent)
    expect(streamed(client, item).includes(mark)).toBe(isSent)
    expect(codes(client, item)).toEqual(isSent ? [] : ['output_dropped'])
  })
})

describe('images in a response', () => {
  const image = samples.image as Item
  const url = `data:image/png;base64,${mark}`

  test('are images of the message in Chat Completions, whole and streamed', () => {
    const entry = { type: 'image_url', image_url: { url }, index: 0 }
    expect(JSON.parse(whole(clientDialects.chat, image))).toMatchObject({
      choices: [{ message: { images: [entry] }, finish_reason: 'stop' }],
    })
    expect(streamed(clientDialects.chat, image)).toContain(`"delta":{"images":[${JSON.stringify(entry)}]}`)
  })

  test('are Markdown in Messages', () => {
    expect(JSON.parse(whole(clientDialects.messages, image))).toMatchObject({ content: [{ type: 'text', text: `![image](${url})` }] })
    expect(streamed(clientDialects.messages, image)).toContain(`"text":"![image](${url})"`)
  })

  test.each([
    ['no bytes', { result: null, status: 'failed' }],
    ['bytes that are no base64', { result: '"><script>)' }],
    ['an address that would end its Markdown', { result: null, url: 'https://x.example/a) ![b](https://y.example' }],
  ])('with %s give a warning', (_, change) => {
    const broken = native({ type: 'image_generation_call', id: 'ig_1', status: 'completed', ...change })
    for (const client of [clientDialects.chat, clientDialects.messages]) expect(codes(client, broken)).toEqual(['output_dropped'])
    expect(codes(clientDialects.responses, broken)).toEqual([])
  })
})

test('a call of a custom tool keeps its text in every dialect', () => {
  const call = samples.customCall as Item & { readonly type: 'function_call' }
  expect(JSON.parse(whole(clientDialects.responses, call)).output).toMatchObject([{ type: 'custom_tool_call', input: call.arguments }])
  expect(JSON.parse(whole(clientDialects.chat, call)).choices[0]).toMatchObject({
    message: { tool_calls: [{ type: 'custom', custom: { name: 'f', input: call.arguments } }] },
    finish_reason: 'tool_calls',
  })
  expect(JSON.parse(whole(clientDialects.messages, call))).toMatchObject({
    content: [{ type: 'tool_use', input: { input: call.arguments } }],
    stop_reason: 'tool_use',
  })
  const pieces = streamed(clientDialects.messages, call)
    .split('\n')
    .map(line => JSON.parse(line) as { readonly delta?: JsonObject })
    .flatMap(({ delta }) => (typeof delta?.partial_json === 'string' ? [delta.partial_json] : []))
  expect(JSON.parse(pieces.join(''))).toEqual({ input: call.arguments })
})

describe('warnings about dropped output', () => {
  test('name each type once, with the number of losses', () => {
    const losses = outputLosses(clientDialects.chat, 'responses')
    for (let at = 0; at < 3; at += 1) losses.look(samples.hostedTool as Item)
    losses.look(native({ type: 'brand_new', id: 'b' }))
    losses.lookBeside(['audio'])
    expect(losses.warnings().map(({ message }) => message)).toEqual([
      'The answer held 3 × `mcp_call`, which this API does not support; it was left out.',
      'The answer held `brand_new`, which this API does not support; it was left out.',
      'The answer held `audio`, which this API does not support; it was left out.',
    ])
  })

  test('are few and short, whatever a provider sends', () => {
    const losses = outputLosses(clientDialects.chat, 'gemini')
    for (let at = 0; at < 20_000; at += 1) losses.look(native({ type: `${at}`.padEnd(10_000, 'x') }, 'gemini'))
    const warnings = losses.warnings()
    expect(warnings).toHaveLength(21)
    expect(warnings.every(({ message }) => message.length < 250)).toBe(true)
    expect(warnings.at(-1)?.message).toContain('19980 × `others`')
  })

  test('are not given if the client has the provider’s dialect', () => {
    const losses = outputLosses(clientDialects.messages, 'messages')
    losses.look(native({ type: 'server_tool_use', id: 's' }, 'messages'))
    losses.lookBeside(['char_location'])
    expect(losses.warnings()).toEqual([])
    expect(losses.sentence(true)).toBeUndefined()
  })
})

describe('a sentence about dropped output', () => {
  const sentence = (client: ClientDialect, item: Item, isEmpty: boolean): string | undefined => {
    const losses = outputLosses(client, 'responses')
    losses.look(item)
    return losses.sentence(isEmpty)
  }

  test('is added if the client must act on it, or if nothing else is left', () => {
    const said = '[The model answered with `local_shell_call`, which this API does not support; it was left out.]'
    expect(sentence(clientDialects.chat, samples.clientTool as Item, false)).toBe(said)
    expect(sentence(clientDialects.chat, samples.hostedTool as Item, true)).toContain('`mcp_call`')
  })

  test('is not added if the text has everything', () => {
    expect(sentence(clientDialects.chat, samples.hostedTool as Item, false)).toBeUndefined()
    expect(sentence(clientDialects.responses, samples.clientTool as Item, true)).toBeUndefined()
    expect(sentence(clientDialects.chat, samples.image as Item, true)).toBeUndefined()
  })
})

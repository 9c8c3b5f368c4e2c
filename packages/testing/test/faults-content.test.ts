import type { BuiltInDialect } from '@signalbox/dialects'
import { isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { hostileText, leakedSecrets } from '../src/chaos/faults-words.ts'
import { meeting } from './meet-fault.ts'
import { utf8 } from './raw-client.ts'

// Rows 66 to 84: the answers say what the fault is called.

const { meet, streamOf } = meeting()

describe('content and meaning', () => {
  /** What the events of a stream say, in order. */
  const eventsOf = async (name: string, dialect: BuiltInDialect): Promise<readonly JsonObject[]> =>
    [...(await streamOf(name, { dialect })).matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data))
  const wholeOf = async (name: string, dialect: BuiltInDialect): Promise<JsonObject> =>
    JSON.parse(utf8((await meet(name, { mode: 'whole', dialect })).body))

  test('announcements are left out, indexes have gaps, items are interleaved and reversed', async () => {
    expect(await streamOf('delta-unannounced', { dialect: 'messages' })).not.toContain('content_block_start')
    const indexes = async (name: string): Promise<readonly unknown[]> =>
      (await eventsOf(name, 'messages')).flatMap(({ type, index }) => (type === 'content_block_delta' ? [index] : []))
    expect(new Set(await indexes('index-gap'))).toEqual(new Set([0, 6, 7]))
    expect((await indexes('items-interleaved')).slice(0, 6)).toEqual([0, 1, 0, 1, 0, 1])
    expect((await indexes('items-backwards')).at(0)).toBe(1)
    expect(await streamOf('delta-of-a-stranger', { dialect: 'chat' })).not.toContain('"get_weather"')
  })

  test('calls have arguments of every kind, duplicate or missing ids, and no name', async () => {
    const calls = async (name: string) => {
      const { output } = await wholeOf(name, 'responses')
      return Array.isArray(output) ? (output as readonly JsonObject[]).filter(({ type }) => type === 'function_call') : []
    }
    expect(await calls('arguments-invalid-whole')).toMatchObject([{ arguments: expect.stringContaining('oops') }])
    expect(Object.keys((await calls('arguments-missing'))[0] ?? {})).not.toContain('arguments')
    expect(String((await calls('arguments-of-1-mib'))[0]?.arguments).length).toBeGreaterThan(1_048_576)
    expect((await calls('call-ids-twice')).map(({ call_id }) => call_id)).toEqual(['call_same', 'call_same'])
    expect((await calls('call-name-missing')).map(({ name }) => name)).toEqual(['', ''])
    const pieces = (await eventsOf('arguments-in-characters', 'responses')).filter(({ type }) => String(type).endsWith('arguments.delta'))
    expect(new Set(pieces.map(({ delta }) => [...String(delta)].length))).toEqual(new Set([1]))
  })

  test('usage is wrong in the fields of each dialect', async () => {
    expect(await wholeOf('usage-negative', 'chat')).toMatchObject({ usage: { prompt_tokens: 12, completion_tokens: -5 } })
    expect(await wholeOf('usage-absurd', 'gemini')).toMatchObject({ usageMetadata: { candidatesTokenCount: 1e15 } })
    expect(await wholeOf('usage-no-number', 'bedrock')).toMatchObject({ usage: { outputTokens: 'NaN' } })
    expect(await wholeOf('usage-more-thought-than-written', 'messages')).toMatchObject({
      usage: { output_tokens_details: { thinking_tokens: 500 } },
    })
    const counted = (await eventsOf('usage-in-every-event', 'chat')).flatMap(({ usage }) =>
      isObject(usage) ? [usage.completion_tokens] : [],
    )
    expect(counted.length).toBeGreaterThan(20)
    expect(counted).toEqual([...counted].sort((one, other) => Number(one) - Number(other)))
    expect(await streamOf('usage-too-late')).toMatch(/\[DONE\]\n\ndata: .*"completion_tokens"/)
  })

  test('responses have wrong metadata', async () => {
    expect(await wholeOf('finish-unknown', 'bedrock')).toMatchObject({ stopReason: 'future_reason' })
    expect(await streamOf('finish-null')).not.toMatch(/"finish_reason":"/)
    expect(await wholeOf('other-choice-first', 'chat')).toMatchObject({ choices: [{ index: 1 }, { index: 0 }] })
    expect(await wholeOf('no-choices', 'gemini')).toMatchObject({ candidates: [] })
    expect(await wholeOf('content-in-parts', 'chat')).toMatchObject({ choices: [{ message: { content: [{ text: defaultText }] } }] })
    expect(await wholeOf('another-model', 'gemini')).toMatchObject({ modelVersion: 'somebody-elses-model' })
    expect(await wholeOf('created-in-milliseconds', 'responses')).toMatchObject({ created_at: 1_764_547_200_000 })
    expect(JSON.stringify(await wholeOf('role-strange', 'messages'))).toContain('"role":"narrator"')
  })

  test('responses have content other than text, too much of it, or harmful text', async () => {
    expect(await streamOf('annotations')).toContain('"url_citation"')
    expect(await streamOf('image', { dialect: 'gemini' })).toContain('"inlineData"')
    const endless = await meet('endless-with-a-cap', {}, { enough: seen => seen.length > 100_000 })
    expect(endless.text.length).toBeGreaterThan(100_000)
    expect(await wholeOf('hostile-text', 'chat')).toMatchObject({ choices: [{ message: { content: hostileText } }] })
    const told = JSON.stringify(await wholeOf('secrets-in-400', 'responses'))
    for (const secret of leakedSecrets) expect(told).toContain(secret)
  })
})

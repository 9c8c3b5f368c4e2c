import { describe, expect, test } from 'vitest'
import { bedrockRecordings, event } from '../../test/bedrock-wire.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { fold } from '../protocol/fold.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { Frame, Json, JsonObject } from '../protocol/wire.ts'
import { bedrockProvider } from './provider.ts'

const _text = (words: string, contentBlockIndex = 0) => event({ contentBlockDelta: { contentBlockIndex, delta: { text: words } } })

const decode = (frames: readonly Frame[], mapping?: ResponseMapping): readonly InferenceEvent[] => {
  const decoder = bedrockProvider.decodeEvents(mapping)
  return [...frames.flatMap(frame => decoder.read([frame])), ...decoder.end()]
}
const _read = (...frames: readonly Frame[]): InferenceResponse => fold(decode(frames))

describe('recorded Bedrock responses', () => {
  test.each(bedrockRecordings)('$name: all text is decoded, character by character', ({ frames }) => {
    const deltas = frames.flatMap(({ event: name, data }) =>
      name === 'contentBlockDelta' ? [(JSON.parse(data) as { readonly delta: JsonObject }).delta] : [],
    )
    const said = (of: (delta: JsonObject) => Json | undefined): string => deltas.map(delta => of(delta) ?? '').join('')
    const inner = (value: Json | undefined, field: string): Json | undefined => (value as JsonObject | undefined)?.[field]
    const events = decode(frames)
    const told = (kind: string): string =>
      events.map(each => (each.type === 'delta' && each.delta.kind === kind && 'text' in each.delta ? each.delta.text : '')).join('')
    expect(told('text')).toBe(said(({ text: words }) => words))
    expect(told('summary')).toBe(said(({ reasoningContent }) => inner(reasoningContent, 'text')))
    expect(told('arguments')).toBe(
      said(({ toolUse }) => inner(toolUse, 'input')) || (frames.some(({ data }) => data.includes('toolUse')) ? '{}' : ''),
    )
  })

  test.each(bedrockRecordings)('$name: the whole response can be decoded', ({ whole }) => {
    const { output, outcome, usage } = bedrockProvider.decodeResponse(whole)
    expect(outcome).toEqual({ status: 'completed' })
    expect(output.length).toBeGreaterThan(0)
    expect(usage?.output_tokens).toBeGreaterThan(0)
  })
})

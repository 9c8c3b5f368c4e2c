import { describe, expect, test } from 'vitest'
import { decode, said } from '../../test/laws.ts'
import { recordings } from '../../test/recordings.ts'
import { fold } from '../protocol/fold.ts'
import type { Item } from '../protocol/item.ts'
import type { Frame, JsonObject } from '../protocol/wire.ts'
import { geminiProvider } from './provider.ts'

const frame = (body: unknown): Frame => ({ data: JSON.stringify(body) })
const whole = (body: JsonObject) => geminiProvider.decodeResponse(body)

describe('recorded responses', () => {
  const google = recordings.filter(({ dialect }) => dialect === 'gemini')
  const partsIn = (frames: readonly Frame[]): readonly JsonObject[] =>
    frames.flatMap(({ data }) =>
      (JSON.parse(data) as { candidates: { content: { parts: JsonObject[] } }[] }).candidates.flatMap(each => each.content.parts),
    )
  const textOf = (items: readonly Item[]) =>
    items
      .flatMap(item => (item.type === 'message' ? item.content : []))
      .map(part => (part.type === 'text' ? part.text : ''))
      .join('')

  test.each(google)('$name: the text and the signatures equal those of its parts, byte for byte', ({ frames }) => {
    const { output } = fold(decode(geminiProvider, frames))
    const parts = partsIn(frames)
    expect(textOf(output)).toBe(parts.map(({ text = '' }) => text).join(''))
    const signatures = output.flatMap(item => (item.type === 'reasoning' ? [JSON.parse(item.encrypted_content ?? '{}').signature] : []))
    expect(signatures).toEqual(parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []))
    expect(signatures).toHaveLength(1)
  })

  test.each(google)('$name: input and output tokens add up to the vendor’s total', ({ frames, whole: body }) => {
    const total = (data: JsonObject) => (data.usageMetadata as { readonly totalTokenCount: number }).totalTokenCount
    const last = JSON.parse(frames.at(-1)?.data ?? '{}') as JsonObject
    for (const [response, counted] of [
      [fold(decode(geminiProvider, frames)), last],
      [whole(body ?? {}), body ?? {}],
    ] as const)
      expect((response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0)).toBe(total(counted))
  })

  test.each(google)('$name: the response is the same whole and as a stream', ({ whole: body }) => {
    expect(said(fold(decode(geminiProvider, [frame(body)])))).toEqual(said(whole(body ?? {})))
  })
})

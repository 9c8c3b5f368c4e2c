import { APICallError, type LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { signalbox } from '@signalbox/ai-sdk'
import fc from 'fast-check'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { scriptedProvider, testGateway } from '../src/index.ts'
import { providerTraits } from './drivers/provider-traits.ts'

// Whatever a call of the AI SDK holds is in the body that the provider is sent, or a warning names its place, or the call is refused
// with the path of what cannot be sent. Each text, name and option of a call has a word of its own to be found again by.

/** A word, and the paths whose warning may stand for it. */
interface Marked {
  readonly word: string
  readonly places: readonly string[]
}

interface MarkedCall {
  readonly options: LanguageModelV4CallOptions
  readonly marks: readonly Marked[]
}

type Kind = 'text' | 'reasoning' | 'file' | 'call' | 'parts' | 'error' | 'denied'

const kinds = fc.array(fc.constantFrom<Kind>('text', 'reasoning', 'file', 'call', 'parts', 'error', 'denied'), { maxLength: 6 })
const settings = fc.subarray(['topK', 'seed', 'stopSequences', 'tools', 'format', 'acme', 'gateway', 'examples', 'partOptions', 'cache'])

/** A conversation of these turns of the assistant, each answered by what it needs. */
function callOf(turns: readonly (readonly Kind[])[], chosen: readonly string[]): MarkedCall {
  const marks: Marked[] = []
  let count = 0
  const mark = (what: string, ...places: string[]): string => {
    const word = `${what}${++count}x`
    marks.push({ word, places })
    return word
  }
  const has = (name: string): boolean => chosen.includes(name)
  const cache = has('cache') ? { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } } : {}
  const extra = has('partOptions') ? { providerOptions: { acme: { [mark('partoption', 'providerOptions.acme')]: 1 } } } : cache
  const prompt: LanguageModelV4CallOptions['prompt'] = [
    { role: 'system', content: mark('system') },
    { role: 'user', content: [{ type: 'text', text: mark('user'), ...extra } as never] },
  ]
  for (const turn of turns) {
    const content: Record<string, unknown>[] = []
    const results: Record<string, unknown>[] = []
    for (const kind of turn) {
      if (kind === 'text') content.push({ type: 'text', text: mark('text') })
      // Reasoning without state is a record that providers do not take, and not marked.
      else if (kind === 'reasoning') content.push({ type: 'reasoning', text: 'Hm.' })
      else if (kind !== 'file') {
        const toolCallId = mark('id')
        const toolName = 'look'
        content.push({ type: 'tool-call', toolCallId, toolName, input: { place: mark('input') } })
        results.push({ type: 'tool-result', toolCallId, toolName, output: outputOf(kind, mark) })
      }
    }
    prompt.push({ role: 'assistant', content: content as never })
    if (results.length > 0) prompt.push({ role: 'tool', content: results as never })
    const data = btoa(`file${++count}`)
    if (turn.includes('file')) marks.push({ word: data, places: [] })
    const files = turn.includes('file') ? [{ type: 'file', mediaType: 'application/pdf', data: { type: 'data', data } }] : []
    prompt.push({ role: 'user', content: [...files, { type: 'text', text: mark('user') }] as never })
  }
  const options: LanguageModelV4CallOptions = {
    prompt,
    ...(has('topK') && { topK: 7 }),
    ...(has('seed') && { seed: 424_242 }),
    ...(has('stopSequences') && { stopSequences: [mark('stop', 'stopSequences')] }),
    ...((has('tools') || turns.flat().length > 0) && {
      tools: [
        {
          type: 'function',
          name: 'look',
          description: mark('description'),
          inputSchema: { type: 'object', properties: { [mark('property')]: { type: 'string' } } },
          ...(has('examples') && { inputExamples: [{ input: { place: mark('example', 'inputExamples') } }] }),
        },
        { type: 'provider', id: `acme.${mark('hosted', 'tools[1]')}`, name: 'hosted', args: {} },
      ],
    }),
    ...(has('format') && {
      responseFormat: { type: 'json', name: 'report', schema: { type: 'object', properties: { [mark('field')]: { type: 'string' } } } },
    }),
    providerOptions: {
      ...(has('acme') && { acme: { [mark('option', 'providerOptions.acme')]: true } }),
      ...(has('gateway') && { gateway: { [mark('gatewayoption', 'providerOptions.gateway')]: true } }),
    },
  }
  if (has('seed')) marks.push({ word: '424242', places: ['seed'] })
  return { options, marks }
}

function outputOf(kind: Kind, mark: (what: string) => string): unknown {
  if (kind === 'parts')
    return {
      type: 'content',
      value: [
        { type: 'text', text: mark('part') },
        { type: 'text', text: mark('part') },
      ],
    }
  if (kind === 'error') return { type: 'error-json', value: { reason: mark('reason') } }
  if (kind === 'denied') return { type: 'execution-denied', reason: mark('denial') }
  return { type: 'json', value: { weather: [mark('result')] } }
}

describe.each(providerTraits)('before a provider of $name', ({ dialect }) => {
  test('nothing of a call is dropped silently', async () => {
    const provider = scriptedProvider({ id: 'scripted', dialect })
    const { gateway, secret, close } = await testGateway({ providers: [provider], limits: { inferenceRpm: 1e9 } })
    onTestFinished(close)
    let refused = 0
    const numRuns = inject('isLongRun') ? 2_000 : 60
    const model = signalbox(gateway, { apiKey: secret })('test-model')
    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { maxLength: 3 }), settings, async (turns, chosen) => {
        const { options, marks } = callOf(turns, chosen)
        const before = provider.calls.length
        try {
          const { warnings } = await model.doGenerate(options)
          const body = JSON.stringify(provider.calls.at(-1)?.body)
          const told = warnings.map(warning => ('feature' in warning ? warning.feature : ''))
          const lost = marks.filter(
            ({ word, places }) => !body.includes(word) && !places.some(place => told.some(path => path.includes(place))),
          )
          expect([lost, told]).toEqual([[], told])
        } catch (error) {
          if (!APICallError.isInstance(error)) throw error
          expect(error).toMatchObject({ statusCode: 400, data: { error: { param: expect.any(String) } } })
          expect(provider.calls.length).toBe(before)
          refused += 1
        }
      }),
      { numRuns },
    )
    expect(refused).toBeLessThan(numRuns / 2)
  })
})

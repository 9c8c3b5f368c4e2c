import { APICallError, isStepCount, jsonSchema, Output, tool } from 'ai'
import { describe, expect, inject, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, defaultText, scriptedProvider } from '../src/index.ts'
import { type AiPackage, aiPackageOf, aiPackages, generated } from './drivers/ai.ts'
import { openTestbed } from './drivers/fixture.ts'
import { found, type ProviderTraits, providerTraits } from './drivers/provider-traits.ts'
import { look } from './drivers/scenes.ts'

const open = async ({ model, providerOptions }: AiPackage, traits: ProviderTraits, script: readonly Act[]) => {
  const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: script })
  const options = { model: model(await openTestbed([provider])), prompt: 'Go.', ...(providerOptions && { providerOptions }) }
  return { provider, options }
}

const schema = jsonSchema<{ place: string }>(look.parameters)
const calling = { name: look.name, arguments: '{"place": "Zürich"}' }

// The default run tests one or two of the dialects with each package, so that each dialect has several; the long run all.
const isMet = (at: number): boolean => inject('isLongRun') || at % 4 === 0

describe.each(aiPackages)('ai with $name', ai => {
  const met = providerTraits.filter((_, at) => isMet(at + aiPackages.indexOf(ai)))
  describe.each(met)('before a provider of $name', traits => {
    describe.each([false, true])('streamed: %s', stream => {
      test('text, and each token once', async () => {
        const usage = { input: 100, cached: 60, output: 30, reasoning: 10 }
        const { options } = await open(ai, traits, [acts.reply({ text: defaultText, usage })])
        expect(await generated(stream, options)).toMatchObject({
          text: defaultText,
          finishReason: 'stop',
          usage: { inputTokens: 100, outputTokens: 30, totalTokens: 130, inputTokenDetails: { cacheReadTokens: 60, noCacheTokens: 40 } },
        })
      })

      test('a loop of two steps', async () => {
        const { options, provider } = await open(ai, traits, [
          acts.reply({ reasoning: 'Hm.', text: 'Looking.', tools: [calling, { ...calling, arguments: '{"place": "Kyōto"}' }] }),
          acts.reply('Done.'),
        ])
        const tools = { look: tool({ description: 'Looks.', inputSchema: schema, execute: async ({ place }) => `Rain in ${place}` }) }
        const { text, steps, finishReason } = await generated(stream, { ...options, tools, stopWhen: isStepCount(3) })
        expect({ text: text.replace('Looking.', ''), steps, finishReason }).toEqual({ text: 'Done.', steps: 2, finishReason: 'stop' })
        const body = provider.calls[1]?.body
        const results = found(body, traits.result)
        expect(results.map(({ output }) => output)).toEqual(['Rain in Zürich', 'Rain in Kyōto'])
        expect(results.map(({ id }) => id)).toEqual(found(body, traits.call).map(({ id }) => id))
        // The provider receives its reasoning back from packages that support reasoning.
        if (traits.signature && !ai.hasNoReasoning) expect(JSON.stringify(body)).toContain(traits.signature)
      })

      test('reasoning', async () => {
        const { options } = await open(ai, traits, [acts.reply({ reasoning: 'First the points.', text: 'Yes.' })])
        const { reasoningText, text } = await generated(stream, options)
        expect({ reasoningText, text }).toEqual({ reasoningText: ai.hasNoReasoning ? undefined : 'First the points.', text: 'Yes.' })
      })

      test('a response that matches a schema', async () => {
        const { options, provider } = await open(ai, traits, [acts.reply(traits.shaped('{"place": "Zürich"}'))])
        const { output } = await generated(stream, { ...options, output: Output.object({ schema }) })
        expect(await output()).toEqual({ place: 'Zürich' })
        expect(traits.schemaIn(provider.calls[0]?.body ?? {})).toMatchObject({ properties: look.parameters.properties })
      })

      test('an error with its status and message', async () => {
        const act = acts.status(400, { message: 'The points are out of order.', code: 'invalid_request_error' })
        const { options } = await open(ai, traits, [act])
        const thrown = await generated(stream, options).catch((reason: unknown) => reason)
        const error = ai.wrapsErrors && thrown instanceof Error ? thrown.cause : thrown
        expect(APICallError.isInstance(error)).toBe(true)
        const words = expect.stringContaining('The points are out of order.')
        expect(error).toMatchObject({
          statusCode: 400,
          isRetryable: false,
          responseBody: words,
          message: ai.wordless ? expect.any(String) : words,
        })
      })
    })

    test('a stream that breaks is an error', async () => {
      const { options } = await open(ai, traits, [acts.errorAfter(4)])
      await expect(generated(true, options)).rejects.toThrow()
    })
  })
})

describe.each(providerTraits)('ai with @ai-sdk/anthropic before a provider of $name', traits => {
  test.each([false, true])('matches a schema through its own tool, streamed: %s', async stream => {
    const act = acts.toolCall('json', { place: 'Zürich' })
    const { options, provider } = await open(aiPackageOf('@ai-sdk/anthropic'), traits, [act])
    const { output } = await generated(stream, { ...options, providerOptions: {}, output: Output.object({ schema }) })
    expect(await output()).toEqual({ place: 'Zürich' })
    expect(JSON.stringify(provider.calls[0]?.body)).toContain('"place"')
  })
})

import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { acts, scriptedProvider } from '../src/index.ts'
import { openTestbed } from './drivers/fixture.ts'
import { repeatedPrefixes } from './drivers/prefix.ts'
import { found, providerTraits } from './drivers/provider-traits.ts'
import { look } from './drivers/scenes.ts'

setTracingDisabled(true)

const surfaces = { 'Responses API': OpenAIResponsesModel, 'Chat Completions': OpenAIChatCompletionsModel }

describe.each(Object.entries(surfaces))('@openai/agents over the %s', (_, Surface) => {
  describe.each(providerTraits)('before a provider of $name', traits => {
    const open = async () => {
      const provider = scriptedProvider({
        id: 'scripted',
        dialect: traits.dialect,
        acts: [
          acts.reply({ reasoning: 'Hm.', text: 'Looking.', tools: [{ name: look.name, arguments: '{"place": "Zürich"}' }] }),
          acts.reply('Done.'),
          acts.reply('Bye.'),
        ],
      })
      const { secret, url, fetch } = await openTestbed([provider])
      const client = new OpenAI({ apiKey: secret, baseURL: `${url}/v1`, fetch, maxRetries: 0 })
      const agent = new Agent({
        name: 'Keeper',
        instructions: 'Be brief.',
        model: new Surface(client, 'test-model'),
        tools: [
          tool({
            name: look.name,
            description: look.description,
            parameters: { ...look.parameters, type: 'object', additionalProperties: false },
            execute: async input => `Rain in ${JSON.stringify(input)}`,
          }),
        ],
      })
      return { provider, agent, runner: new Runner({ tracingDisabled: true }) }
    }

    test.each([false, true])('an agent uses its tool, responds, and continues, streamed: %s', async stream => {
      const { provider, agent, runner } = await open()
      const run = async (input: Parameters<Runner['run']>[1]) => {
        if (!stream) return runner.run(agent, input)
        const result = await runner.run(agent, input, { stream: true })
        let told = ''
        for await (const piece of result.toTextStream()) told += piece
        await result.completed
        expect(told).toContain(result.finalOutput)
        return result
      }
      const first = await run('Go.')
      expect(first.finalOutput).toBe('Done.')
      const [result, ...others] = found(provider.calls[1]?.body, traits.result)
      expect([result?.output, others]).toEqual(['Rain in {"place":"Zürich"}', []])
      // It stores the parts of a message separately from its text, so it may send a call twice.
      expect(new Set(found(provider.calls[1]?.body, traits.call).map(({ id }) => id))).toEqual(new Set([result?.id]))

      const keeps = Surface === OpenAIResponsesModel && traits.signature
      if (keeps) expect(JSON.stringify(provider.calls[1]?.body)).toContain(traits.signature)

      const second = await run([...first.history, { role: 'user', content: 'And now?' }])
      expect(second.finalOutput).toBe('Bye.')
      expect(found(provider.calls[2]?.body, traits.result)).toEqual([result])
      expect(repeatedPrefixes(provider.calls)).toEqual([true, true])
    })
  })
})

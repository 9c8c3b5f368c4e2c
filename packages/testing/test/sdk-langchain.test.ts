import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, test } from 'vitest'
import type { AnswerContent } from '../src/answers/index.ts'
import { acts, type ScriptedProvider, scriptedProvider } from '../src/index.ts'
import { openTestbed } from './drivers/fixture.ts'
import { found, type ProviderTraits, providerTraits } from './drivers/provider-traits.ts'
import { shareOf } from './share-of.ts'

// What LangChain requires of every chat model, over providers of each dialect: invoke, stream and batch, usage whole and streamed, calls of
// tools whole and in pieces, histories of tools in every form that it allows, images, structured results.

type Fetch = typeof globalThis.fetch
interface Place {
  readonly url: string
  readonly secret: string
  readonly fetch: Fetch
}

/** What the tests read of a message, whole or put together. */
interface Reply {
  readonly text: string
  readonly usage_metadata?: { readonly input_tokens: number; readonly output_tokens: number }
  readonly tool_calls?: readonly { readonly name: string; readonly args: object }[]
}

const models: Readonly<Record<string, (place: Place) => BaseChatModel>> = {
  'ChatOpenAI over Chat Completions': ({ url, secret, fetch }) =>
    new ChatOpenAI({ model: 'test-model', apiKey: secret, maxRetries: 0, configuration: { baseURL: `${url}/v1`, fetch } }),
  'ChatOpenAI over the Responses API': ({ url, secret, fetch }) =>
    new ChatOpenAI({
      ...{ model: 'test-model', apiKey: secret, maxRetries: 0, useResponsesApi: true },
      configuration: { baseURL: `${url}/v1`, fetch },
    }),
  ChatAnthropic: ({ url, secret, fetch }) =>
    new ChatAnthropic({
      ...{ model: 'test-model', apiKey: secret, maxRetries: 0, maxTokens: 1_000, anthropicApiUrl: url },
      clientOptions: { fetch },
    }),
}

const adder = {
  name: 'add',
  description: 'Adds two numbers.',
  schema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
}
const clock = { name: 'now', description: 'The time.', schema: { type: 'object', properties: {} } }
const twoCalls: AnswerContent = {
  tools: [
    { name: 'add', arguments: '{"a":1,"b":2}' },
    { name: 'now', arguments: '{}' },
  ],
}
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAE='

describe.each(Object.keys(models))('%s', name => {
  describe.each(shareOf(providerTraits, Object.keys(models).indexOf(name), 2))(
    'before a provider of $name',
    ({ dialect, call, result, picture }: ProviderTraits) => {
      const open = async (
        ...answers: readonly (string | AnswerContent)[]
      ): Promise<{ model: BaseChatModel; provider: ScriptedProvider }> => {
        const provider = scriptedProvider({ id: 'scripted', dialect, acts: answers.map(each => acts.reply(each)) })
        const { url, secret, fetch } = await openTestbed([provider])
        const model = models[name]?.({ url, secret, fetch: fetch as Fetch }) ?? expect.fail('no model')
        return { model, provider }
      }
      const streamed = async (model: Pick<BaseChatModel, 'stream'>, input: string): Promise<Reply> => {
        const pieces: AIMessageChunk[] = []
        for await (const piece of await model.stream(input)) pieces.push(piece)
        return pieces.reduce((before, piece) => before.concat(piece)) as unknown as Reply
      }

      test('returns the same text and usage whole and streamed', async () => {
        const { model } = await open('Hello there.', 'Hello there.')
        const whole = (await model.invoke('Hi')) as unknown as Reply
        const inPieces = await streamed(model, 'Hi')
        for (const { text, usage_metadata } of [whole, inPieces]) {
          expect(text).toBe('Hello there.')
          expect(usage_metadata?.input_tokens).toBeGreaterThan(0)
          expect(usage_metadata?.output_tokens).toBeGreaterThan(0)
        }
        // ChatAnthropic adds the count that the provider's first event states to the whole count of its last.
        const isAdded = name === 'ChatAnthropic' && dialect.name === 'messages'
        expect(inPieces.usage_metadata?.output_tokens).toBe((whole.usage_metadata?.output_tokens ?? 0) + (isAdded ? 1 : 0))
      })

      test('runs a batch and a conversation', async () => {
        const { model, provider } = await open('One.', 'Two.', 'Three.')
        const texts = await model.batch(['a', 'b'])
        expect(texts.map(({ text }) => text).toSorted()).toEqual(['One.', 'Two.'])
        const said = await model.invoke([new SystemMessage('Be brief.'), new HumanMessage('a'), new AIMessage('b'), new HumanMessage('c')])
        expect(said.text).toBe('Three.')
        expect(JSON.stringify(provider.calls[2]?.body)).toContain('Be brief.')
      })

      test.each([false, true])('calls tools in parallel, one without arguments, streamed: %s', async stream => {
        const { model } = await open(twoCalls)
        const bound = model.bindTools?.([adder, clock] as never) ?? expect.fail('no tools')
        const answer = stream ? await streamed(bound as never, 'Go.') : ((await bound.invoke('Go.')) as unknown as Reply)
        expect(answer.tool_calls?.map(({ name: tool, args }) => ({ tool, args }))).toEqual([
          { tool: 'add', args: { a: 1, b: 2 } },
          { tool: 'now', args: {} },
        ])
        expect(answer.usage_metadata?.input_tokens).toBeGreaterThan(0)
      })

      test.each<[string, unknown]>([
        ['a text', 'Adding.'],
        ['no text', ''],
        ['blocks', [{ type: 'text', text: 'Adding.' }]],
      ])('accepts a tool history whose message has %s', async (_, content) => {
        const { model, provider } = await open('Done.')
        const calls = [{ id: 'call_1', name: 'add', args: { a: 1, b: 2 }, type: 'tool_call' as const }]
        const history = [
          new HumanMessage('Go.'),
          new AIMessage({ content: content as string, tool_calls: calls }),
          new ToolMessage({ content: '3', tool_call_id: 'call_1', name: 'add' }),
        ]
        const bound = model.bindTools?.([adder] as never) ?? expect.fail('no tools')
        expect((await bound.invoke(history)).text).toBe('Done.')
        const body = provider.calls[0]?.body
        expect(found(body, call)).toMatchObject([{ name: 'add' }])
        expect(found(body, result)).toMatchObject([{ output: expect.stringContaining('3') }])
      })

      test('accepts an image as a standard block', async () => {
        const { model, provider } = await open('A dot.')
        const image = { type: 'image', mimeType: 'image/png', data: png } as const
        const answer = await model.invoke([new HumanMessage({ contentBlocks: [{ type: 'text', text: 'What is it?' }, image] })])
        expect(answer.text).toBe('A dot.')
        expect(found(provider.calls[0]?.body, picture)).toEqual([{ type: 'image/png', data: png }])
      })

      test('returns a structured result through a function', async () => {
        const { model } = await open({ tools: [{ name: 'add', arguments: '{"a":1,"b":2}' }] })
        const schema = { ...adder.schema, title: 'add', description: adder.description }
        expect(await model.withStructuredOutput(schema as never, { name: 'add', method: 'functionCalling' }).invoke('Go.')).toEqual({
          a: 1,
          b: 2,
        })
      })
    },
  )
})

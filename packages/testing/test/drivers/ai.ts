import { createAnthropic } from '@ai-sdk/anthropic'
import { createGateway } from '@ai-sdk/gateway'
import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { signalbox } from '@signalbox/ai-sdk'
import { generateText, type LanguageModel, streamText } from 'ai'
import type { OpenTestbed } from './fixture.ts'
import type { Testbed } from './sdk-response.ts'

// The AI SDK, which calls the gateway through a package for each vendor.

globalThis.AI_SDK_LOG_WARNINGS = false

type Options = Parameters<typeof generateText>[0]

export interface AiPackage {
  readonly name: string
  readonly model: (testbed: OpenTestbed) => LanguageModel
  readonly providerOptions?: NonNullable<Options['providerOptions']>
  /** It does not support reasoning. */
  readonly hasNoReasoning?: boolean
  /** It cannot parse an error whose `param` is null, as most are, and reports only its status. */
  readonly wordless?: boolean
  /** Its errors are of its own, and hold that of the call. */
  readonly wrapsErrors?: boolean
}

const id = 'test-model'
const reached = ({ secret, url, fetch }: Required<Testbed>) => ({ apiKey: secret, baseURL: `${url}/v1`, fetch })

export const aiPackages: readonly AiPackage[] = [
  {
    name: '@ai-sdk/openai, responses',
    model: testbed => createOpenAI(reached(testbed)).responses(id),
    // Otherwise it refers to items of earlier answers by id: test/item-references.test.ts. It reads only summaries of reasoning, and requests them for models that it knows.
    providerOptions: { openai: { store: false, forceReasoning: true, reasoningSummary: 'auto' } },
  },
  { name: '@ai-sdk/openai, chat', model: testbed => createOpenAI(reached(testbed)).chat(id), hasNoReasoning: true },
  {
    name: '@ai-sdk/openai-compatible',
    model: testbed =>
      createOpenAICompatible({ name: 'testbed', includeUsage: true, supportsStructuredOutputs: true, ...reached(testbed) })(id),
  },
  {
    name: '@ai-sdk/anthropic',
    model: testbed => createAnthropic(reached(testbed))(id),
    providerOptions: { anthropic: { structuredOutputMode: 'outputFormat' } },
  },
  {
    name: '@ai-sdk/open-responses',
    model: testbed => createOpenResponses({ name: 'testbed', ...reached(testbed), url: `${testbed.url}/v1/responses` })(id),
    wordless: true,
  },
  { name: '@signalbox/ai-sdk', model: ({ gateway, secret }) => signalbox(gateway, { apiKey: secret })(id) },
  {
    name: '@ai-sdk/gateway',
    model: testbed => createGateway({ ...reached(testbed), baseURL: `${testbed.url}/v4/ai` })(id),
    wrapsErrors: true,
  },
]

export function aiPackageOf(name: string): AiPackage {
  const found = aiPackages.find(each => each.name === name)
  if (!found) throw new Error(`There is no ${name} here.`)
  return found
}

/** The result is the same whole and streamed. */
export async function generated<T extends Options>(stream: boolean, options: T) {
  const asked = { maxRetries: 0, ...options }
  if (!stream) {
    const { text, reasoningText, finishReason, usage, steps, output } = await generateText(asked)
    return { text, reasoningText, finishReason, usage, steps: steps.length, output: () => output }
  }
  const errors: unknown[] = []
  const result = streamText({ ...asked, onError: ({ error }) => void errors.push(error) })
  let text = ''
  for await (const piece of result.textStream) text += piece
  if (errors.length > 0) throw errors[0]
  const [reasoningText, finishReason, usage, steps] = await Promise.all([
    result.reasoningText,
    result.finishReason,
    result.usage,
    result.steps,
  ])
  return { text, reasoningText, finishReason, usage, steps: steps.length, output: () => result.output }
}

import { createAnthropic } from '@ai-sdk/anthropic'
import { createGateway } from '@ai-sdk/gateway'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { signalbox } from '@signalbox/ai-sdk'
import { generateText, isStepCount, jsonSchema, type LanguageModel, type ModelMessage, Output, streamText, type ToolSet, tool } from 'ai'
import { type AgentClient, type AgentSession, type AgentTestbed, instructions, model, type TaskTool } from './task.ts'

const toolsOf = (tools: readonly TaskTool[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters, run }) => [
      name,
      tool({ description, inputSchema: jsonSchema<Record<string, string>>(parameters as never), execute: async input => run(input) }),
    ]),
  )

interface AiSdkOptions {
  readonly model: () => LanguageModel
  readonly tools: ToolSet
  readonly stream: boolean
}

function session(options: AiSdkOptions, history: readonly ModelMessage[]): AgentSession {
  const messages = [...history]
  const asked = { model: options.model(), instructions, tools: options.tools, stopWhen: isStepCount(10), maxRetries: 0 }
  return {
    async send(text) {
      messages.push({ role: 'user', content: text })
      const run = options.stream ? streamText({ ...asked, messages }) : await generateText({ ...asked, messages })
      messages.push(...(await run.responseMessages))
      return run.text
    },
    resume: async () => session(options, JSON.parse(JSON.stringify(messages))),
    async result(text, schema) {
      messages.push({ role: 'user', content: text })
      const { output } = await generateText({ ...asked, messages, output: Output.object({ schema: jsonSchema(schema as never) }) })
      return output
    },
  }
}

interface AiSdkClient extends Pick<AgentClient, 'losesReasoning' | 'resultTool'> {
  readonly name: string
  readonly package?: string
  readonly modelOf: (testbed: AgentTestbed) => LanguageModel
}

const clientsOf = ({ name, package: provider, modelOf, ...facts }: AiSdkClient): readonly AgentClient[] =>
  [true, false].map(stream => ({
    name: `AI SDK, ${name}${stream ? ', streamed' : ''}`,
    packages: provider === undefined ? ['ai'] : ['ai', provider],
    ...facts,
    start: (testbed, tools) => session({ model: () => modelOf(testbed), tools: toolsOf(tools), stream }, []),
  }))

const reached = ({ url, secret }: AgentTestbed) => ({ baseURL: `${url}/v1`, apiKey: secret })

const clients: readonly AiSdkClient[] = [
  { name: '`createOpenAI`', package: '@ai-sdk/openai', modelOf: testbed => createOpenAI(reached(testbed))(model) },
  {
    name: '`createOpenAICompatible`',
    package: '@ai-sdk/openai-compatible',
    modelOf: testbed => createOpenAICompatible({ name: 'signalbox', supportsStructuredOutputs: true, ...reached(testbed) })(model),
    losesReasoning: true,
  },
  {
    name: '`createAnthropic`',
    package: '@ai-sdk/anthropic',
    modelOf: testbed => createAnthropic(reached(testbed))(model),
    resultTool: 'json',
  },
  {
    name: '`createGateway`',
    package: '@ai-sdk/gateway',
    modelOf: ({ url, secret }) => createGateway({ baseURL: `${url}/v4/ai`, apiKey: secret })(model),
  },
  { name: '`signalbox`, in process', modelOf: ({ gateway, secret }) => signalbox(gateway, { apiKey: secret })(model) },
]

export const aiSdkClients: readonly AgentClient[] = clients.flatMap(clientsOf)

import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { type BaseMessage, mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, HumanMessage, tool } from 'langchain'
import { type AgentClient, type AgentSession, type AgentTestbed, instructions, model, type TaskTool } from './task.ts'

interface LangChainOptions {
  readonly model: () => BaseChatModel
  readonly tools: readonly TaskTool[]
}

function session(options: LangChainOptions, history: readonly BaseMessage[]): AgentSession {
  const chat = options.model()
  const agent = createAgent({
    model: chat,
    systemPrompt: instructions,
    tools: options.tools.map(({ name, description, parameters, run }) =>
      tool(async (input: Record<string, string>) => run(input), { name, description, schema: parameters as never }),
    ),
  })
  let messages = [...history]
  return {
    async send(text) {
      const outcome = await agent.invoke({ messages: [...messages, new HumanMessage(text)] })
      messages = outcome.messages
      return outcome.messages.at(-1)?.text ?? ''
    },
    resume: async () =>
      session(options, mapStoredMessagesToChatMessages(JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages(messages))))),
    result: (text, schema) =>
      chat.withStructuredOutput(schema as never, { name: 'report', method: 'jsonSchema' }).invoke([...messages, new HumanMessage(text)]),
  }
}

interface LangChainClient extends Pick<AgentClient, 'losesReasoning'> {
  readonly name: string
  readonly package: string
  readonly modelOf: (testbed: AgentTestbed) => BaseChatModel
}

const clients: readonly LangChainClient[] = [
  {
    name: '`ChatOpenAI`',
    package: '@langchain/openai',
    modelOf: ({ url, secret }) => new ChatOpenAI({ model, apiKey: secret, maxRetries: 0, configuration: { baseURL: `${url}/v1` } }),
    losesReasoning: true,
  },
  {
    name: '`ChatAnthropic`',
    package: '@langchain/anthropic',
    modelOf: ({ url, secret }) => new ChatAnthropic({ model, apiKey: secret, maxRetries: 0, maxTokens: 1_000, anthropicApiUrl: url }),
  },
]

export const langchainClients: readonly AgentClient[] = clients.map(({ name, package: provider, modelOf, ...facts }) => ({
  name: `LangChain, ${name}`,
  packages: ['langchain', provider],
  ...facts,
  start: (testbed, tools) => session({ model: () => modelOf(testbed), tools }, []),
}))

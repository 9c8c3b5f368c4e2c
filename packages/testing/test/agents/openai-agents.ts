import {
  Agent,
  type AgentInputItem,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import type { JsonObject } from '@signalbox/dialects/protocol'
import OpenAI from 'openai'
import { type AgentClient, type AgentSession, type AgentTestbed, instructions, model, type TaskTool } from './task.ts'

setTracingDisabled(true)

type Surface = typeof OpenAIResponsesModel | typeof OpenAIChatCompletionsModel

interface AgentsOptions {
  readonly testbed: AgentTestbed
  readonly Model: Surface
  readonly tools: readonly TaskTool[]
}

function session(options: AgentsOptions, history: readonly AgentInputItem[]): AgentSession {
  const { testbed, Model, tools } = options
  const runner = new Runner({ tracingDisabled: true })
  const client = new OpenAI({ apiKey: testbed.secret, baseURL: `${testbed.url}/v1`, maxRetries: 0 })
  const agent = new Agent({
    name: 'Editor',
    instructions,
    model: new Model(client, model),
    tools: tools.map(({ name, description, parameters, run }) =>
      tool({
        name,
        description,
        parameters: parameters as never,
        strict: true,
        execute: async input => run(input as Record<string, string>),
      }),
    ),
  })
  let items = [...history]
  const run = async (text: string, outputType?: JsonObject): Promise<unknown> => {
    const shaped = outputType
      ? agent.clone({ outputType: { type: 'json_schema', name: 'report', strict: true, schema: outputType } as never })
      : agent
    const outcome = await runner.run(shaped, [...items, { role: 'user', content: text }])
    items = outcome.history
    return outcome.finalOutput
  }
  return {
    send: async text => String(await run(text)),
    resume: async () => session(options, JSON.parse(JSON.stringify(items))),
    result: run,
  }
}

export const openaiAgents: readonly AgentClient[] = [
  {
    name: 'OpenAI Agents, Responses',
    packages: ['@openai/agents', 'openai'],
    start: (testbed, tools) => session({ testbed, Model: OpenAIResponsesModel, tools }, []),
  },
  {
    name: 'OpenAI Agents, Chat Completions',
    packages: ['@openai/agents', 'openai'],
    losesReasoning: true,
    start: (testbed, tools) => session({ testbed, Model: OpenAIChatCompletionsModel, tools }, []),
  },
]

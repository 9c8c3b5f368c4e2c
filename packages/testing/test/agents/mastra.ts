import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { signalbox } from '@signalbox/ai-sdk'
import * as z from 'zod'
import { type AgentClient, type AgentSession, type AgentTestbed, instructions, model, type TaskTool } from './task.ts'

type AgentConfig = ConstructorParameters<typeof Agent>[0]
type Messages = Parameters<Agent['generate']>[0]

const shapeOf = (names: readonly string[]) => z.object(Object.fromEntries(names.map(name => [name, z.string()])))

function session(modelOf: () => AgentConfig['model'], tools: readonly TaskTool[], history: readonly unknown[]): AgentSession {
  const agent = new Agent({
    id: 'editor',
    name: 'Editor',
    instructions,
    model: modelOf(),
    tools: Object.fromEntries(
      tools.map(({ name, description, parameters, run }) => [
        name,
        createTool({ id: name, description, inputSchema: shapeOf(parameters.required), execute: async input => run(input) }),
      ]),
    ),
  })
  const messages = [...history]
  return {
    async send(text) {
      messages.push({ role: 'user', content: text })
      const outcome = await agent.generate(messages as Messages, { maxSteps: 10 })
      messages.push(...(outcome.response.messages ?? []))
      return outcome.text
    },
    resume: async () => session(modelOf, tools, JSON.parse(JSON.stringify(messages))),
    async result(text, schema) {
      messages.push({ role: 'user', content: text })
      const { object } = await agent.generate(messages as Messages, {
        structuredOutput: { schema: shapeOf(schema.required as readonly string[]) },
      })
      return object
    },
  }
}

interface MastraClient extends Pick<AgentClient, 'losesReasoning'> {
  readonly name: string
  readonly modelOf: (testbed: AgentTestbed) => AgentConfig['model']
}

const clients: readonly MastraClient[] = [
  {
    name: 'an OpenAI-compatible `url`',
    modelOf: ({ url, secret }) => ({ id: `signalbox/${model}`, url: `${url}/v1`, apiKey: secret }),
    losesReasoning: true,
  },
  // Its type of a model is the AI SDK's, but for `doGenerate`, which it wants to return a stream as well.
  { name: '`signalbox`, in process', modelOf: ({ gateway, secret }) => signalbox(gateway, { apiKey: secret })(model) as never },
]

export const mastraClients: readonly AgentClient[] = clients.map(({ name, modelOf, ...facts }) => ({
  name: `Mastra, ${name}`,
  packages: ['@mastra/core'],
  ...facts,
  start: (testbed, tools) => session(() => modelOf(testbed), tools, []),
}))

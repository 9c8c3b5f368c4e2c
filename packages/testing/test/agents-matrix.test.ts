import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { serve } from '@signalbox/node-http'
import { afterEach, describe, inject, test } from 'vitest'
import { scriptedProvider, testGateway } from '../src/index.ts'
import { aiSdkClients } from './agents/ai-sdk.ts'
import { langchainClients } from './agents/langchain.ts'
import { mastraClients } from './agents/mastra.ts'
import { openaiAgents } from './agents/openai-agents.ts'
import { type AgentClient, doTask, taskScript } from './agents/task.ts'
import { checkTable } from './drivers/docs-table.ts'
import { type ProviderTraits, providerTraits } from './drivers/provider-traits.ts'

// Each SDK as its users set it up, with a provider of each dialect: docs/agents.md shows what ran.

globalThis.AI_SDK_LOG_WARNINGS = false

const clients: readonly AgentClient[] = [...aiSdkClients, ...langchainClients, ...mastraClients, ...openaiAgents]
const passed = new Set<string>()

const nameOf = (client: AgentClient, traits: ProviderTraits): string => `${client.name} ${traits.name}`

/** The default run tries one of five dialects with each SDK, others with the next one, unless it writes the table. */
const isTried = (client: AgentClient, { name }: ProviderTraits): boolean => {
  const at = clients.indexOf(client) + providerTraits.findIndex(each => each.name === name)
  return inject('isLongRun') || process.env.UPDATE_DOCS !== undefined || at % 5 === 0
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

describe.each(clients)('$name', client => {
  test.each(providerTraits.filter(traits => isTried(client, traits)))('completes the task with a provider of $name', async traits => {
    const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: taskScript(traits, client) })
    const testbed = await testGateway({ providers: [provider] })
    closing.push(testbed.close)
    const server = await serve(testbed.gateway, { port: 0 })
    closing.push(() => server.close())
    await doTask(client, { ...testbed, url: server.url }, { provider, traits })
    passed.add(nameOf(client, traits))
  })
})

const folder = resolve(import.meta.dirname, '../node_modules')

/** The version that is installed, of the package or of what it is another name for. */
const versionOf = (name: string): string => {
  const file = createRequire(import.meta.url).resolve.paths(name) ? join(folder, name, 'package.json') : name
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const row = (client: AgentClient): string => {
  const { name, packages, losesReasoning } = client
  const versions = packages.map(each => `\`${each}\` ${versionOf(each)}`).join(', ')
  const cells = providerTraits.map(traits => (passed.has(nameOf(client, traits)) || !isTried(client, traits) ? '✓' : '✗'))
  return `| ${name} | ${versions} | ${cells.join(' | ')} | ${losesReasoning ? 'lost' : 'kept'} |`
}

/** Writes or checks the table: `UPDATE_DOCS=1 pnpm test agents-matrix` writes it. */
test('the table in docs/agents.md matches this run', () => {
  const head = `| SDK | packages | ${providerTraits.map(({ name }) => name).join(' | ')} | reasoning |\n|---|---|${providerTraits.map(() => ':-:|').join('')}---|`
  checkTable('agents:sdks', [head, ...clients.map(row)].join('\n'))
})

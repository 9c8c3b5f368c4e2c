import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CodingAgent } from './agent.ts'
import { jsonLines } from './agent.ts'

const model = 'test-model'

const opencode = (npm: string): CodingAgent => ({
  name: `opencode, \`${npm}\``,
  package: 'opencode-ai',
  program: 'opencode',
  model,
  setUp({ project }, { url, secret }) {
    const limit = { context: 28_000, output: 4_000 }
    writeFileSync(
      join(project, 'opencode.json'),
      JSON.stringify({
        $schema: 'https://opencode.ai/config.json',
        autoupdate: false,
        share: 'disabled',
        provider: {
          signalbox: {
            npm,
            name: 'Signalbox',
            options: { baseURL: `${url}/v1`, apiKey: secret },
            models: { [model]: { name: 'Test', limit, reasoning: true, tool_call: true } },
          },
        },
      }),
    )
  },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  }),
  turn: (prompt, isFirst) => ['run', '-m', `signalbox/${model}`, '--format', 'json', ...(isFirst ? [] : ['--continue']), prompt],
  answerIn: printed =>
    jsonLines(printed)
      .flatMap(({ type, part }) => (type === 'text' ? [(part as { readonly text: string }).text] : []))
      .join('\n'),
  compacts: { inputTokens: 27_000 },
  asksForSummary: /summar(y|ize)/i,
  tools: {
    read: ({ project }, file) => ({ name: 'read', arguments: { filePath: join(project, file) } }),
    readThree: ({ project }, files) => [
      ...files.map(file => ({ name: 'read', arguments: { filePath: join(project, file) } })),
      { name: 'bash', arguments: { command: 'ls', description: 'Lists the folder' } },
    ],
    edit: ({ project }, { file, from, to }) => ({
      name: 'edit',
      arguments: { filePath: join(project, file), oldString: from, newString: to },
    }),
  },
})

export const opencodeAgents: readonly CodingAgent[] = ['@ai-sdk/openai-compatible', '@ai-sdk/openai', '@ai-sdk/anthropic'].map(opencode)

import { join } from 'node:path'
import type { CodingAgent } from './agent.ts'

interface Printed {
  readonly result?: string
  readonly structured_output?: unknown
}

const printedBy = (printed: string): Printed => JSON.parse(printed.slice(printed.indexOf('{')))

const flags = ['-p', '--allowedTools', 'Read,Edit,Write,Bash,Glob', '--output-format', 'json']

export const claudeCode: CodingAgent = {
  name: 'Claude Code, `ANTHROPIC_BASE_URL`',
  package: '@anthropic-ai/claude-code',
  program: 'claude',
  model: 'claude-sonnet-5',
  setUp: () => {},
  env: ({ home }, { url, secret }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: secret,
    ANTHROPIC_MODEL: 'claude-sonnet-5',
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  }),
  turn: (prompt, isFirst) => [...flags, ...(isFirst ? [] : ['--continue']), prompt],
  answerIn: printed => printedBy(printed).result ?? '',
  compacts: { prompt: '/compact' },
  asksForSummary: /create a detailed summary|summary of the conversation/i,
  result: {
    turn: (prompt, schema) => [...flags, '--continue', '--json-schema', JSON.stringify(schema), prompt],
    resultIn: printed => printedBy(printed).structured_output,
    tool: 'StructuredOutput',
  },
  tools: {
    read: ({ project }, file) => ({ name: 'Read', arguments: { file_path: join(project, file) } }),
    readThree: ({ project }, files) => [
      ...files.map(file => ({ name: 'Read', arguments: { file_path: join(project, file) } })),
      { name: 'Bash', arguments: { command: 'ls', description: 'Lists the folder' } },
    ],
    edit: ({ project }, { file, from, to }) => ({
      name: 'Edit',
      arguments: { file_path: join(project, file), old_string: from, new_string: to },
    }),
  },
}

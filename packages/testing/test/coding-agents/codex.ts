import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Called, CodingAgent, Workplace } from './agent.ts'
import { jsonLines } from './agent.ts'

const files = ({ home }: Workplace) => join(home, 'codex')

/** Each in its own file: the model that Codex chooses by default runs tools from JavaScript, earlier ones call them. */
const config = (model: string, more: string): string => `model = "${model}"
model_auto_compact_token_limit = 30000
check_for_update_on_startup = false
${more}
[analytics]
enabled = false
[features]
plugins = false
apps = false
`

const ownProvider = (url: string, webSockets: boolean): string => `model_provider = "signalbox"
[model_providers.signalbox]
name = "Signalbox"
base_url = "${url}/v1"
env_key = "SIGNALBOX_API_KEY"
wire_api = "responses"
supports_websockets = ${webSockets}
`

const patch = (file: string, from: string, to: string): string =>
  ['*** Begin Patch', `*** Update File: ${file}`, '@@', `-${from}`, ...to.split('\n').map(line => `+${line}`), '*** End Patch'].join('\n')

const shell = (cmd: string): Called => ({ name: 'exec_command', arguments: { cmd } })

const directTools: CodingAgent['tools'] = {
  read: (_, file) => shell(`cat ${file}`),
  readThree: (_, [first, second]) => [shell(`cat ${first}`), shell(`cat ${second}`), shell('ls')],
  edit: (_, { file, from, to }) => ({ name: 'apply_patch', input: patch(file, from, to) }),
}

const script = (...lines: readonly string[]): Called => ({ name: 'exec', input: lines.join('\n') })
const command = (cmd: string): string => `tools.exec_command({ cmd: ${JSON.stringify(cmd)} })`

const scriptedTools: CodingAgent['tools'] = {
  read: (_, file) => script(`text((await ${command(`cat ${file}`)}).output)`),
  readThree: (_, [first, second]) => [
    script(
      `const all = await Promise.all([${[`cat ${first}`, `cat ${second}`, 'ls'].map(command).join(', ')}])`,
      'for (const { output } of all) text(output)',
    ),
  ],
  edit: (_, { file, from, to }) => script(`text(await tools.apply_patch(${JSON.stringify(patch(file, from, to))}))`),
}

interface Variant extends Pick<CodingAgent, 'name' | 'model' | 'tools'> {
  readonly provider: (url: string) => string
  readonly key: string
}

const codex = ({ provider, key, ...variant }: Variant): CodingAgent => ({
  ...variant,
  package: '@openai/codex',
  program: 'codex',
  setUp(place, { url }) {
    mkdirSync(files(place))
    writeFileSync(join(files(place), 'config.toml'), config(variant.model, provider(url)))
  },
  env: (place, { secret }) => ({ CODEX_HOME: files(place), [key]: secret }),
  turn: (prompt, isFirst) => ['exec', ...(isFirst ? [] : ['resume', '--last']), ...flags, prompt],
  answerIn: answered,
  compacts: { inputTokens: 40_000 },
  asksForSummary: /CONTEXT CHECKPOINT COMPACTION|handoff summary|Summarize the conversation/i,
  result: {
    turn(prompt, schema, place) {
      const file = join(place.home, 'schema.json')
      writeFileSync(file, JSON.stringify(schema))
      return ['exec', 'resume', '--last', ...flags, '--output-schema', file, prompt]
    },
    resultIn: printed => JSON.parse(answered(printed)),
  },
})

const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json']

function answered(printed: string): string {
  const said = jsonLines(printed).flatMap(({ item }) => {
    const { type, text } = (item ?? {}) as { readonly type?: string; readonly text?: string }
    return type === 'agent_message' && text !== undefined ? [text] : []
  })
  return said.at(-1) ?? ''
}

const current = { model: 'gpt-6.1-sol', tools: scriptedTools }

export const codexAgents: readonly CodingAgent[] = [
  codex({
    name: 'Codex CLI, `openai_base_url`',
    provider: url => `openai_base_url = "${url}/v1"`,
    key: 'CODEX_API_KEY',
    ...current,
  }),
  codex({
    name: 'Codex CLI, a `model_providers` entry with WebSockets',
    provider: url => ownProvider(url, true),
    key: 'SIGNALBOX_API_KEY',
    ...current,
  }),
  codex({
    name: 'Codex CLI, a `model_providers` entry, tools called directly',
    provider: url => ownProvider(url, false),
    key: 'SIGNALBOX_API_KEY',
    model: 'gpt-5.5',
    tools: directTools,
  }),
]

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

// The reference of the library's options, from the interfaces that type them. The tables that check options at run time have the type
// `OptionTableOf` of the same interfaces, so that neither has an option that the other lacks.

const packages = resolve(import.meta.dirname, '../..')

/** Where an interface of options is. `of`: the option of the section that holds it. */
interface OptionSource {
  readonly file: string
  readonly name: string
  readonly of?: string
}

interface OptionSection {
  readonly heading: string
  readonly call: string
  readonly sources: readonly OptionSource[]
}

const mounted: readonly OptionSource[] = [
  { file: 'api/src/settings.ts', name: 'ApiOptions' },
  { file: 'api/src/settings.ts', name: 'Cors', of: 'cors' },
  { file: 'api/src/settings.ts', name: 'ClientLimits' },
  { file: 'api/src/websocket/limits.ts', name: 'WebSocketLimits', of: 'webSockets' },
]

const sections: readonly OptionSection[] = [
  {
    heading: 'createGateway',
    call: 'createGateway({ … })` of `signalbox',
    sources: [
      { file: 'gateway/src/options.ts', name: 'GatewayOptions' },
      { file: 'router/src/decision-log/records.ts', name: 'DecisionLogOptions', of: 'decisionLog' },
      { file: 'core/src/request/item-references/kept-items.ts', name: 'StoredItemOptions', of: 'storedItems' },
      { file: 'core/src/upstream/limits.ts', name: 'Timeouts', of: 'timeouts' },
      { file: 'core/src/upstream/limits.ts', name: 'Limits', of: 'limits' },
      { file: 'core/src/access/kinds.ts', name: 'CallLimits', of: 'limits.workspace' },
      { file: 'core/src/runtime/ports.ts', name: 'Hooks', of: 'hooks' },
      { file: 'workspaces/src/money/reloads.ts', name: 'BillingOptions', of: 'billing' },
    ],
  },
  {
    heading: 'Every mount',
    call: 'toFetchHandler(gateway, { … })`, `serve`, and the mounts of frameworks, `signalbox/…',
    sources: mounted,
  },
  {
    heading: 'Fetch handlers',
    call: 'toFetchHandler`, `toHonoHandler`, `toNextJsHandler`, `toWorkersHandler`, `toDenoHandler',
    sources: [{ file: 'fetch-handler/src/responder.ts', name: 'FetchOptions' }],
  },
  {
    heading: 'Node servers',
    call: 'serve`, `toNodeHandler`, `toExpressHandler`, `toFastifyPlugin`, `mountGateway',
    sources: [
      { file: 'node-http/src/listener.ts', name: 'NodeOptions' },
      { file: 'node-http/src/serve.ts', name: 'ServeOptions' },
    ],
  },
  {
    heading: 'sqliteStorage',
    call: "sqliteStorage('FILE', { … })` of `signalbox/sqlite",
    sources: [{ file: 'storage-sql/src/sqlite.ts', name: 'SqliteStorageOptions' }],
  },
  {
    heading: 'postgresStorage',
    call: "postgresStorage('postgres://…', { … })` of `signalbox/postgres",
    sources: [{ file: 'storage-sql/src/postgres.ts', name: 'PostgresStorageOptions' }],
  },
  {
    heading: 'libsqlStorage',
    call: 'libsqlStorage({ … })` of `signalbox/libsql',
    sources: [{ file: 'storage-sql/src/libsql.ts', name: 'LibsqlStorageOptions' }],
  },
  {
    heading: 'workersStorage',
    call: 'workersStorage({ … })` of `signalbox/workers',
    sources: [{ file: 'storage-sql/src/workers.ts', name: 'WorkersStorageOptions' }],
  },
  {
    heading: 'redisStores',
    call: 'redisStores({ … })` of `signalbox/redis',
    sources: [{ file: 'storage-redis/src/options.ts', name: 'RedisStoresOptions' }],
  },
  {
    heading: 'Providers',
    call: 'openai({ … })` and most others of `signalbox/providers',
    sources: [{ file: 'providers/src/vendor.ts', name: 'VendorOptions' }],
  },
  { heading: 'azure', call: 'azure({ … })', sources: [{ file: 'providers/src/azure.ts', name: 'AzureOptions' }] },
  {
    heading: 'amazonBedrock',
    call: 'amazonBedrock({ … })',
    sources: [{ file: 'providers/src/amazon-bedrock.ts', name: 'BedrockOptions' }],
  },
  {
    heading: 'googleVertex',
    call: 'googleVertex({ … })',
    sources: [{ file: 'providers/src/google-vertex.ts', name: 'VertexOptions' }],
  },
  { heading: 'compatible', call: 'compatible({ … })', sources: [{ file: 'providers/src/compatible.ts', name: 'CompatibleOptions' }] },
]

interface Option {
  readonly name: string
  readonly type: string
  readonly meaning: string
  readonly default: string
}

/** The members of an interface, in its order. */
export function optionsOf({ file, name, of }: OptionSource): readonly Option[] {
  const path = join(packages, file)
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const found = source.statements.find(
    (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
  )
  if (found === undefined) throw new Error(`${file} has no interface ${name}.`)
  return found.members.flatMap(member => {
    if (!(ts.isPropertySignature(member) || ts.isMethodSignature(member))) return []
    const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
    const text = (ts.getTextOfJSDocComment(doc?.comment) ?? '').replaceAll(/\s+/g, ' ').trim()
    if (text === '') throw new Error(`${file}: \`${name}.${member.name.getText(source)}\` has no docstring.`)
    const tag = doc?.tags?.find(({ tagName }) => tagName.text === 'default')
    const told = tag === undefined ? undefined : ts.getTextOfJSDocComment(tag.comment)?.trim()
    const [, meaning = text, fallback = told ?? ''] = /^(.*?)\s*Default:? (.*?)\.?$/.exec(text) ?? []
    const type = ts.isMethodSignature(member) ? 'function' : typeOf(member.type?.getText(source) ?? '')
    const isRequired = member.questionToken === undefined && fallback === '' && of === undefined
    return [
      {
        name: `${of === undefined ? '' : `${of}.`}${member.name.getText(source)}`,
        type,
        meaning,
        default: isRequired ? 'required' : fallback,
      },
    ]
  })
}

/** A type in few words: functions and objects have more in their docstrings than in a cell. */
function typeOf(type: string): string {
  const flat = type
    .replaceAll(/\s+/g, ' ')
    .replaceAll('readonly ', '')
    .replace(/ \| undefined$/, '')
  if (/=>/.test(flat) || flat.startsWith('SignIn<')) return 'function'
  return flat.length > 60 ? 'object' : `\`${flat}\``
}

/** The entries of docs/options.md: a heading, a line with type and default, and the meaning. */
export const optionTables = (): string =>
  sections
    .map(({ heading, call, sources }) => {
      const entries = sources.flatMap(optionsOf).map(({ name, type, meaning, default: fallback }) => {
        const facts = [type, fallback === 'required' ? '**required**' : fallback && `default: ${fallback}`].filter(Boolean).join(', ')
        return `#### \`${name}\`\n\n${facts}\n\n${meaning}`
      })
      return `## ${heading}\n\n\`${call}\`\n\n${entries.join('\n\n')}`
    })
    .join('\n\n')

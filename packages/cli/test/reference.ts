import * as z from 'zod'
import { overridingVariables } from '../src/environment.ts'
import { configSchema } from '../src/schema.ts'

// The reference of the config file and its JSON schema, from the schema that checks it.

type Json = Readonly<Record<string, unknown>>

/** Where the page puts which fields. */
const parts: Readonly<Record<string, readonly string[]>> = {
  Server: ['host', 'port', 'workers', 'owned_by', 'cors_origins', 'admin_key', 'sealing_key', 'workspace', '$schema'],
  Storage: ['storage', 'redis'],
  Providers: ['providers', 'tls'],
  'Models and routing': ['models', 'catalog', 'strategy', 'hedge', 'max_hedge_cost_usd', 'decision_log', 'stored_items'],
  Limits: ['limits', 'web_sockets'],
  Timeouts: ['timeouts'],
}

/** What `signalbox/config.schema.json` holds. */
export function configJsonSchema(): Json {
  const { $schema, additionalProperties, ...schema } = z.toJSONSchema(configSchema, { io: 'input' })
  return withoutLinks({
    $schema,
    title: 'Configuration of the Signalbox server',
    ...schema,
    additionalProperties,
  }) as Json
}

/** Editors show descriptions as text. */
function withoutLinks(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/ ?\(\[[^\]]*\]\([^)]*\)\)/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  if (Array.isArray(value)) return value.map(withoutLinks)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutLinks(inner)]))
}

interface Field {
  readonly path: string
  readonly takes: string
  readonly default: string
  readonly description: string
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && JSON.stringify(value).length === 2

/** A default. Thousands are set apart where a number is an amount: a port is none. */
function shown(value: unknown): string {
  if (value === undefined || isEmpty(value)) return ''
  return typeof value === 'number' ? value.toLocaleString('en-US', { useGrouping: value % 1_000 === 0 || value > 65_535 }) : `\`${value}\``
}

/** The schema of a field without what makes it optional. */
const bare = (schema: z.core.$ZodType): z.core.$ZodType =>
  'unwrap' in schema && !(schema instanceof z.ZodArray) ? bare((schema.unwrap as () => z.core.$ZodType)()) : schema

/** The fields below a field, if it can be an object or a list of objects. */
function fieldsBelow(schema: z.core.$ZodType, path: string): readonly Field[] {
  if (schema instanceof z.ZodObject) return fieldsOf(schema, `${path}.`)
  if (schema instanceof z.ZodArray) return fieldsBelow(bare(schema.element as z.core.$ZodType), `${path}[]`)
  if (schema instanceof z.ZodUnion)
    return schema.options.flatMap(option => (option instanceof z.ZodObject ? fieldsBelow(option, path) : []))
  return []
}

/** The expected type in the error message of a wrong value. */
function takes(schema: z.core.$ZodType): string {
  const { error } = z.safeParse(schema, Symbol('wrong'))
  const [issue] = error?.issues ?? []
  if (issue === undefined) throw new Error('A field takes anything.')
  return issue.message.replace(/^one of (.*)$/, (_, names: string) =>
    names
      .split(', ')
      .map(name => `\`${name}\``)
      .join(', '),
  )
}

function fieldsOf(schema: z.ZodObject, before: string): readonly Field[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const path = before + name
    const json = properties[name] as z.core.JSONSchema.BaseSchema
    if (json.description === undefined) throw new Error(`packages/cli/src/schema.ts: \`${path}\` has no description.`)
    const inner = bare(field as z.core.$ZodType)
    const [description = '', told] = json.description.split(' Default: ')
    const fallback = told ?? (shown(json.default) || (required.includes(name) ? 'required' : ''))
    const below = fieldsBelow(inner, path)
    const self = { path, takes: takes(inner), default: fallback, description: description.replace(/\.$/, '') }
    // A section that exists by default adds nothing to its fields.
    return isEmpty(json.default) && inner instanceof z.ZodObject ? below : [self, ...below]
  })
}

const row = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** The tables of docs/configuration.md. */
export function configTables(): string {
  const left = Object.keys(configSchema.shape).filter(name => !Object.values(parts).flat().includes(name))
  if (left.length > 0) throw new Error(`packages/cli/test/reference.ts: no part of the page has ${left.join(', ')}.`)
  const fields = fieldsOf(configSchema, '')
  return Object.entries(parts)
    .map(([heading, names]) => {
      const rows = fields
        .filter(({ path }) => names.includes(/^[$\w]+/.exec(path)?.[0] ?? ''))
        .map(field => row([`\`${field.path}\``, field.description, field.takes, field.default]))
      return `## ${heading}\n\n| field | meaning | takes | default |\n|---|---|---|---|\n${rows.join('\n')}`
    })
    .join('\n\n')
}

/** The variables that set fields. */
export const variableTable = (): string =>
  [
    '| variable | sets |\n|---|---|',
    ...overridingVariables.map(({ variable, field, flag }) =>
      row([`\`${variable}\``, `\`${field}\`${flag === undefined ? '' : `, as does the flag \`--${flag}\``}`]),
    ),
  ].join('\n')

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { limitsOf, settingsOf } from '../../api/src/settings.ts'
import { defaultStoredItems } from '../../core/src/request/item-references/kept-items.ts'
import { defaultLimits, defaultStored, defaultTimeouts } from '../../gateway/src/options.ts'
import { defaultServerTimes } from '../../node-http/src/serve.ts'
import { decisionLogLimits } from '../../router/src/decision-log/records.ts'
import { configSchema } from '../src/schema.ts'
import { configJsonSchema, configTables, variableTable } from './reference.ts'

// docs/configuration.md and signalbox/config.schema.json match the schema. `UPDATE_DOCS=1 pnpm test configuration` writes both.

const root = resolve(import.meta.dirname, '../../..')
const page = resolve(root, 'docs/configuration.md')
const schemaFile = resolve(root, 'packages/signalbox/config.schema.json')

/** A page with the text between two comments replaced. */
const withPart = (text: string, name: string, part: string): string =>
  text.replace(
    new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`),
    (_, start: string, end: string) => `${start}\n${part}\n\n${end}`,
  )

test('docs/configuration.md has every field of the schema', () => {
  const text = readFileSync(page, 'utf8')
  const written = withPart(withPart(text, 'config:variables', variableTable()), 'config:fields', configTables())
  if (process.env.UPDATE_DOCS) writeFileSync(page, written)
  expect(readFileSync(page, 'utf8')).toBe(written)
})

test('config.schema.json of the package is the schema', () => {
  const written = `${JSON.stringify(configJsonSchema(), null, 2)}\n`
  if (process.env.UPDATE_DOCS) writeFileSync(schemaFile, written)
  expect(readFileSync(schemaFile, 'utf8')).toBe(written)
})

test('config.schema.json is published', () => {
  const { exports, files, publishConfig } = JSON.parse(readFileSync(resolve(root, 'packages/signalbox/package.json'), 'utf8'))
  expect(files).toContain('config.schema.json')
  expect([exports, publishConfig.exports].map(each => each['./config.schema.json'])).toEqual(Array(2).fill('./config.schema.json'))
})

const accepts = new Ajv2020({ strictTypes: false }).compile(configJsonSchema())

/** Config files on pages: blocks of `json config-file`. */
const examples = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.md'))
  .flatMap(path =>
    [...readFileSync(join(root, 'docs', path), 'utf8').matchAll(/^```json config-file\n([\s\S]*?)^```/gm)].map(([, code = '']) => ({
      path,
      code,
    })),
  )

test.each(examples)('the config on docs/$path is accepted by the server and by editors', ({ code }) => {
  const config = JSON.parse(code)
  expect(configSchema.safeParse(config).error).toBeUndefined()
  expect(accepts(config), JSON.stringify(accepts.errors)).toBe(true)
})

const provider = { id: 'local', base_url: 'http://127.0.0.1:9/v1' }
const offer = { provider: 'local', provider_model_id: 'm', dialect: 'chat' }

describe('a config refused by the server is refused by an editor too', () => {
  test.each<[name: string, config: object]>([
    ['an unknown field', { prot: 1 }],
    ['an unknown field of a section', { limits: { rpm: 1 } }],
    ['an unknown field of a provider', { providers: [{ ...provider, apikey: 'k' }] }],
    ['a port out of range', { port: 70_000 }],
    ['a port as text', { port: '80' }],
    ['a fraction of a worker', { workers: 1.5 }],
    ['an admin key of another form', { admin_key: 'secret' }],
    ['a sealing key of another form', { sealing_key: 'abcd' }],
    ['a provider without an id', { providers: [{}] }],
    ['an offer without a dialect', { models: [{ id: 'm', offers: [{ provider: 'local', provider_model_id: 'm' }] }] }],
    ['an unknown dialect', { models: [{ id: 'm', offers: [{ ...offer, dialect: 'latin' }] }] }],
    ['a negative price', { models: [{ id: 'm', offers: [{ ...offer, price: { input: -1, output: 1 } }] }] }],
    ['half a price', { models: [{ id: 'm', offers: [{ ...offer, price: { input: 1 } }] }] }],
    ['an unknown strategy', { strategy: 'best' }],
    ['a share above 1', { decision_log: { share: 2 } }],
    ['true for a decision log', { decision_log: true }],
    ['no time', { timeouts: { idle_ms: 0 } }],
    ['no origin', { cors_origins: [] }],
    ['storage without an address', { storage: { durability: 'full' } }],
  ])('%s', (_, config) => {
    expect(configSchema.safeParse(config).success).toBe(false)
    expect(accepts(config)).toBe(false)
  })

  test('except for URLs, which are checked when the server starts', () => {
    const config = { storage: 'mysql://x', providers: [{ id: 'p', base_url: 'localhost' }] }
    expect([configSchema.safeParse(config).success, accepts(config)]).toEqual([false, true])
  })
})

test('a sealing key may be in upper case in both', () => {
  const config = { sealing_key: 'AB'.repeat(32) }
  expect([configSchema.safeParse(config).success, accepts(config)]).toEqual([true, true])
})

describe('the defaults in the reference match those of the library', () => {
  const { properties } = configJsonSchema() as {
    properties: Record<string, { properties?: Defaults; anyOf?: { properties?: Defaults }[] }>
  }
  type Defaults = Readonly<Record<string, { readonly default?: unknown }>>
  const told = (section: string): object => {
    const { properties: fields = properties[section]?.anyOf?.[1]?.properties ?? {} } = properties[section] ?? {}
    return Object.fromEntries(
      Object.entries(fields)
        .filter(([, field]) => field.default !== undefined)
        .map(([name, field]) => [name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), field.default]),
    )
  }
  const settings = settingsOf()
  /** Of the server alone. */
  const ownTimes = { shutdownMs: 30_000, flushMs: 2_000, afterDrainMs: 30_000 }

  test.each<[section: string, actual: object]>([
    ['stored_items', defaultStoredItems],
    ['decision_log', { keep: decisionLogLimits.decisions, share: 1, store: defaultStored }],
    ['limits', { ...settings, ...defaultLimits, ...limitsOf(), workspace: {} }],
    ['web_sockets', settings.webSockets],
    ['timeouts', { ...defaultTimeouts, ...limitsOf(), ...defaultServerTimes, ...ownTimes }],
  ])('%s', (section, actual) => {
    const defaults = told(section)
    expect(Object.keys(defaults).length).toBeGreaterThan(2)
    expect(actual).toMatchObject(defaults)
  })
})

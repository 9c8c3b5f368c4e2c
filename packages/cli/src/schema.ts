import { type BuiltInDialect, providerDialects } from '@signalbox/core/dialects'
import { abilities } from '@signalbox/core/protocol'
import * as z from 'zod'
import { type StorageOption, schemeOf, storageExamples, storageOptions } from './storage-schemes.ts'

/** One field. Whatever is wrong with it, the message names what it takes. */
const takes = <Output>(what: string, schema: z.ZodType<Output>) =>
  z.unknown().transform((value, context): Output => {
    const read = schema.safeParse(value)
    if (read.success) return read.data
    context.addIssue({ code: 'custom', message: what, input: value })
    return z.NEVER
  })

/** An object that takes these fields and no others. */
const section = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const fields = Object.keys(shape).join(', ')
  return z.strictObject(shape, { error: issue => (issue.code === 'unrecognized_keys' ? fields : `an object of ${fields}`) })
}

const list = <Item extends z.ZodType>(item: Item) => z.array(item, { error: 'a list' })
const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) => takes(`one of ${names.join(', ')}`, z.enum(names))

const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  takes(
    max === Number.MAX_SAFE_INTEGER ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`,
    z.int().min(min).max(max),
  )
const textLike = (what: string, pattern: RegExp) => takes(what, z.string().regex(pattern))
const label = () => textLike('a text of 1 to 255 characters', /^[^\p{Cc}]{1,255}$/u)
const name = () => textLike('1 to 200 visible ASCII characters without spaces', /^[\x21-\x7e]{1,200}$/)
const secret = () => textLike('a text of visible ASCII characters without spaces', /^[\x21-\x7e]+$/)

/** A value that becomes part of a URL. */
const urlPart = () => textLike('1 to 128 letters, digits, `-`, `_`, `.` and `:`', /^[\w.:-]{1,128}$/)

/** Money is stored as whole microdollars: an amount that would have to be rounded is refused. */
const amountInUsd = (what: string, max: number) =>
  takes(
    `${what} from 0 to ${max}, with at most 6 decimals`,
    z
      .number()
      .min(0)
      .max(max)
      .refine(value => Math.abs(value * 1e6 - Math.round(value * 1e6)) < 1e-3),
  )
const price = () => amountInUsd('US dollars per million tokens', 1_000_000)

const dialects = Object.keys(providerDialects) as [BuiltInDialect, ...BuiltInDialect[]]
const strategies = ['order', 'cost', 'latency', 'throughput', 'availability', 'balanced'] as const
const minute = 60_000

const provider = section({
  id: textLike('1 to 64 letters, digits, `-`, `_` and `.`', /^[\w.-]{1,64}$/),
  speaks: list(oneOf(dialects)).optional(),
  base_url: takes('an http or https address, as in https://api.example.com/v1', z.string().refine(isWebAddress)).optional(),
  api_key: secret().optional(),
  api_key_env: textLike('the name of an environment variable', /^\w+$/).optional(),
  // Which provider takes which of these is in `built-in.ts`.
  region: urlPart().optional(),
  access_key_id: secret().optional(),
  secret_access_key: secret().optional(),
  session_token: secret().optional(),
  resource: urlPart().optional(),
  project: urlPart().optional(),
  location: urlPart().optional(),
  credentials_file: textLike('the name of a file', /^[^\p{Cc}]{1,4096}$/u).optional(),
  account_id: urlPart().optional(),
  workspace: urlPart().optional(),
  data_policy: oneOf(['zdr', 'no_training', 'may_train', 'unknown']).optional(),
})

const offer = section({
  provider: name(),
  provider_model_id: name(),
  dialect: oneOf(dialects),
  context_window: whole(1).exactOptional(),
  max_output_tokens: whole(1).exactOptional(),
  price: section({
    input: price(),
    output: price(),
    cached: price().exactOptional(),
    cache_write: price().exactOptional(),
  }).exactOptional(),
  abilities: list(oneOf(abilities)).exactOptional(),
})

const model = section({
  id: name(),
  aliases: list(name()).exactOptional(),
  family: label().exactOptional(),
  display_name: label().exactOptional(),
  author: label().exactOptional(),
  offers: list(offer),
})

const customCatalog = section({
  file: textLike('the name of a file', /^[^\p{Cc}]{1,4096}$/u).optional(),
  // The catalog checks these when the server starts.
  overrides: takes('an object', z.record(z.string(), z.unknown())).optional(),
})

const fraction = () => takes('a number from 0 to 1', z.number().min(0).max(1))
const recordFields = section({
  keep: whole(0).exactOptional(),
  share: fraction().exactOptional(),
  store: fraction().exactOptional(),
})

/** A plain value, or an object whose faults are reported where they are. */
const either = <Plain, Fields extends z.ZodType>(plain: z.ZodType<Plain>, fields: Fields) =>
  z.unknown().transform((value, context): Plain | z.output<Fields> => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const read = isObject ? fields.safeParse(value) : plain.safeParse(value)
    if (read.success) return read.data as Plain | z.output<Fields>
    for (const issue of read.error.issues) context.addIssue({ ...issue })
    return z.NEVER
  })

/** One of some plain values, or an object. `expected` names both for messages. */
const plainOrObject = <const Plain extends string | boolean, Fields extends z.ZodType>(
  expected: string,
  plain: readonly Plain[],
  fields: Fields,
) => either(takes(expected, z.literal(plain)), fields)

const isStorage = (text: string): boolean => schemeOf(text) !== undefined
const storageFields = section({
  url: takes(storageExamples, z.string().refine(isStorage)),
  // Which storage takes which of these is in `storage-schemes.ts`.
  durability: oneOf(['process', 'full']).exactOptional(),
  pool_size: whole(1, 1_000).exactOptional(),
  schema: textLike('up to 48 lower-case letters, digits and underscores', /^[a-z_][a-z0-9_]{0,47}$/).exactOptional(),
  migrate: takes('true or false', z.boolean()).exactOptional(),
  prepare: takes('true or false', z.boolean()).exactOptional(),
  token: secret().exactOptional(),
  spool: textLike('the name of a file', /^[^\p{Cc}]{1,4096}$/u).exactOptional(),
} satisfies Record<StorageOption | 'url', z.ZodType>)
const isRedis = (text: string): boolean => /^rediss?:\/\/./.test(text) && URL.canParse(text)
const redisExample = '`redis://USER:PASSWORD@HOST:6379`, or `rediss://` for TLS'
const redisFields = section({
  url: takes(
    `${redisExample}, or a list of nodes of a cluster`,
    z.union([z.string().refine(isRedis), z.array(z.string().refine(isRedis)).min(1)]),
  ),
  prefix: textLike('visible ASCII characters without braces', /^[\x21-\x7a|~]{0,64}$/).exactOptional(),
  max_wait_ms: whole(1, 60_000).exactOptional(),
  fallback: oneOf(['storage', 'local']).exactOptional(),
})
const redis = () =>
  either(takes(`${redisExample}, or an object of url, prefix, max_wait_ms, fallback`, z.string().refine(isRedis)), redisFields)

const storage = () =>
  either(takes(`${storageExamples}, or an object of url, ${storageOptions.join(', ')}`, z.string().refine(isStorage)), storageFields)

const catalog = () => plainOrObject('`built-in`, `none`, or an object of file, overrides', ['built-in', 'none'], customCatalog)
/** What is recorded of routing decisions; `false` records nothing. */
const record = () => plainOrObject('`false`, or an object of keep, share, store', [false], recordFields)

const itemFields = section({
  store: takes('true or false', z.boolean()).exactOptional(),
  ttl: whole(1).exactOptional(),
  max_bytes: whole(1).exactOptional(),
  max_total_bytes: whole(1).exactOptional(),
})
/** For how long, and where, items of responses can be referred to; `false` keeps none. */
const items = () => plainOrObject('`false`, or an object of store, ttl, max_bytes, max_total_bytes', [false], itemFields)

// A limit or timeout is an option of core or of the server by the same name in camel case (options.ts). One that is absent has the
// default of that option.

export const gatewayLimits = {
  inference_rpm: whole(1).default(1_000),
  tokens_per_minute: whole(1).exactOptional(),
  management_reads_rpm: whole(1).default(300),
  management_writes_rpm: whole(1).default(60),
  concurrent_requests: whole(1).default(200),
  workspace: section({
    requests_per_minute: whole(1).exactOptional(),
    tokens_per_minute: whole(1).exactOptional(),
    concurrent_requests: whole(1).exactOptional(),
  }).prefault({}),
}

export const serverLimits = {
  body_bytes: whole(1).default(33_554_432),
  upload_bytes_per_workspace: whole(1).exactOptional(),
  upload_bytes: whole(1).exactOptional(),
  body_bytes_per_second: whole(1).exactOptional(),
}

export const webSocketLimits = {
  connections_per_workspace: whole(1).exactOptional(),
  connections: whole(1).exactOptional(),
  max_age_ms: whole(1).exactOptional(),
  max_idle_ms: whole(1).exactOptional(),
  message_bytes: whole(1).exactOptional(),
}

export const gatewayTimeouts = {
  first_byte_ms: whole(1).default(2 * minute),
  whole_ms: whole(1).default(5 * minute),
  deadline_ms: whole(1).default(18 * minute),
  idle_ms: whole(1).default(2 * minute),
}

export const serverTimeouts = {
  body_idle_ms: whole(1).exactOptional(),
  drain_ms: whole(1).exactOptional(),
}

const corsOrigins = () =>
  takes('`*`, or a list of origins, as in https://app.example', z.union([z.literal('*'), z.array(z.string().refine(isOrigin)).min(1)]))

/** The whole config file. */
export const configSchema = section({
  host: textLike('a host name or an IP address', /^[\w.:%-]{1,255}$/).default('127.0.0.1'),
  port: whole(0, 65_535).default(8787),
  workers: takes('`auto`, or a whole number from 1 to 128', z.union([z.literal('auto'), z.int().min(1).max(128)])).default(1),
  operator: label().default('signalbox'),
  cors_origins: corsOrigins().exactOptional(),
  storage: storage().default('sqlite:signalbox.db'),
  redis: redis().exactOptional(),
  // The header that keys travel in is split at commas.
  admin_key: textLike('`ak_` and 8 to 200 visible ASCII characters without a comma', /^ak_[\x21-\x2b\x2d-\x7e]{8,200}$/).optional(),
  sealing_key: textLike('64 hex digits', /^[0-9a-f]{64}$/i).optional(),
  workspace: section({
    name: label().default('default'),
    credit_usd: amountInUsd('US dollars', 1_000_000_000).default(100),
  }).prefault({}),
  catalog: catalog().default('built-in'),
  providers: list(provider).default([]),
  models: list(model).default([]),
  strategy: oneOf(strategies).default('balanced'),
  record: record().default({}),
  items: items().default({}),
  limits: section({
    ...gatewayLimits,
    ...serverLimits,
  }).prefault({}),
  web_sockets: section(webSocketLimits).prefault({}),
  timeouts: section({
    ...gatewayTimeouts,
    ...serverTimeouts,
  }).prefault({}),
})

/** A config that was checked, with defaults. */
export type Config = z.output<typeof configSchema>

function isOrigin(text: string): boolean {
  return isWebAddress(text) && new URL(text).origin === text
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

import { abilities } from '@signalbox/core/protocol'
import * as z from 'zod'

/** One field: whatever is wrong with it, the message is what it takes. */
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

const whole = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  takes(
    most === Number.MAX_SAFE_INTEGER ? `a whole number, ${least} or more` : `a whole number from ${least} to ${most}`,
    z.int().min(least).max(most),
  )
const words = (what: string, pattern: RegExp) => takes(what, z.string().regex(pattern))
const label = () => words('a text of 1 to 255 characters', /^[^\p{Cc}]{1,255}$/u)
const name = () => words('1 to 200 visible ASCII characters without spaces', /^[\x21-\x7e]{1,200}$/)
const secret = () => words('a text of visible ASCII characters without spaces', /^[\x21-\x7e]+$/)

/** It becomes part of an address. */
const place = () => words('1 to 128 letters, digits, `-`, `_`, `.` and `:`', /^[\w.:-]{1,128}$/)

/** Money inside is whole microdollars: what would be rounded away is refused. */
const usd = (what: string, most: number) =>
  takes(
    `${what} from 0 to ${most}, with at most 6 decimals`,
    z
      .number()
      .min(0)
      .max(most)
      .refine(value => Math.abs(value * 1e6 - Math.round(value * 1e6)) < 1e-3),
  )
const price = () => usd('US dollars per million tokens', 1_000_000)

const dialects = ['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const
const strategies = ['order', 'cost', 'latency', 'throughput', 'availability', 'balanced'] as const
const minute = 60_000

const provider = section({
  id: words('1 to 64 letters, digits, `-`, `_` and `.`', /^[\w.-]{1,64}$/),
  speaks: list(oneOf(dialects)).optional(),
  base_url: takes('an http or https address, as in https://api.example.com/v1', z.string().refine(isWebAddress)).optional(),
  api_key: secret().optional(),
  api_key_env: words('the name of an environment variable', /^\w+$/).optional(),
  // Of some providers only; which takes what stands in their rows.
  region: place().optional(),
  access_key_id: secret().optional(),
  secret_access_key: secret().optional(),
  session_token: secret().optional(),
  resource: place().optional(),
  project: place().optional(),
  location: place().optional(),
  credentials_file: words('the name of a file', /^[^\p{Cc}]{1,4096}$/u).optional(),
  account_id: place().optional(),
  data_policy: oneOf(['zdr', 'no_training', 'may_train', 'unknown']).optional(),
})

const offer = section({
  provider: name(),
  provider_model_id: name(),
  dialect: oneOf(dialects),
  context_window: whole(1).optional(),
  max_output_tokens: whole(1).optional(),
  price: section({
    input: price(),
    output: price(),
    cached: price().optional(),
    cache_write: price().optional(),
  }).optional(),
  abilities: list(oneOf(abilities)).optional(),
})

const model = section({
  id: name(),
  aliases: list(name()).optional(),
  family: label().optional(),
  display_name: label().optional(),
  author: label().optional(),
  offers: list(offer),
})

const ownCatalog = section({
  file: words('the name of a file', /^[^\p{Cc}]{1,4096}$/u).optional(),
  // What they may say is the catalog's business, which reads them when the server starts.
  overrides: takes('an object', z.record(z.string(), z.unknown())).optional(),
})

const fraction = () => takes('a number from 0 to 1', z.number().min(0).max(1))
const recordFields = section({
  keep: whole(0).exactOptional(),
  share: fraction().exactOptional(),
  store: fraction().exactOptional(),
})

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** One of some plain values, or an object whose faults are told where they are. `words` name what it takes. */
const oneOrObject = <const Plain, Fields extends z.ZodType>(words: string, plain: readonly Plain[], fields: Fields) =>
  z.unknown().transform((value, context): Plain | z.output<Fields> => {
    const known = plain.find(each => each === value)
    if (known !== undefined) return known
    if (!isObject(value)) {
      context.addIssue({ code: 'custom', message: words, input: value })
      return z.NEVER
    }
    const read = fields.safeParse(value)
    if (read.success) return read.data
    for (const issue of read.error.issues) context.addIssue({ ...issue })
    return z.NEVER
  })

const catalog = () => oneOrObject('`built-in`, `none`, or an object of file, overrides', ['built-in', 'none'], ownCatalog)
/** What is kept of how requests were routed; `false`: nothing. */
const record = () => oneOrObject('`false`, or an object of keep, share, store', [false], recordFields)

/** The whole file. */
export const configSchema = section({
  host: words('a host name or an IP address', /^[\w.:%-]{1,255}$/).default('127.0.0.1'),
  port: whole(0, 65_535).default(8787),
  operator: label().default('signalbox'),
  storage: words('`memory:`, `sqlite:FILE` or `postgres://…`', /^(?:memory:$|sqlite:.|postgres(?:ql)?:\/\/.)/).default(
    'sqlite:signalbox.db',
  ),
  redis: words('an address as in redis://127.0.0.1:6379', /^rediss?:\/\/./).optional(),
  // The header that keys travel in is split at commas.
  admin_key: words('`ak_` and 8 to 200 visible ASCII characters without a comma', /^ak_[\x21-\x2b\x2d-\x7e]{8,200}$/).optional(),
  sealing_key: words('64 hex digits', /^[0-9a-f]{64}$/i).optional(),
  workspace: section({
    name: label().default('default'),
    credit_usd: usd('US dollars', 1_000_000_000).default(100),
  }).prefault({}),
  catalog: catalog().default('built-in'),
  providers: list(provider).default([]),
  models: list(model).default([]),
  strategy: oneOf(strategies).default('balanced'),
  record: record().default({}),
  limits: section({
    inference_rpm: whole(1).default(1_000),
    tokens_per_minute: whole(1).optional(),
    management_reads_rpm: whole(1).default(300),
    management_writes_rpm: whole(1).default(60),
    concurrent_requests: whole(1).default(200),
    workspace: section({
      requests_per_minute: whole(1).optional(),
      tokens_per_minute: whole(1).optional(),
      concurrent_requests: whole(1).optional(),
    }).prefault({}),
    body_bytes: whole(1).default(33_554_432),
    // Without these the server's own defaults hold.
    upload_bytes_per_key: whole(1).optional(),
    upload_bytes: whole(1).optional(),
    upload_bytes_per_second: whole(1).optional(),
  }).prefault({}),
  timeouts: section({
    first_byte_ms: whole(1).default(2 * minute),
    whole_ms: whole(1).default(5 * minute),
    deadline_ms: whole(1).default(18 * minute),
    idle_ms: whole(1).default(2 * minute),
    upload_idle_ms: whole(1).optional(),
    drain_ms: whole(1).optional(),
  }).prefault({}),
})

export type Config = z.output<typeof configSchema>

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

import { graceFacts } from '@signalbox/storage/outage-grace'
import * as z from 'zod/v4'
import {
  amountInUsd,
  either,
  fileName,
  fraction,
  isWebAddress,
  label,
  list,
  oneOf,
  secret,
  section,
  someOf,
  textLike,
  textThat,
  trueOrFalse,
  whole,
} from './schema-fields.ts'
import { customCatalog, model, provider } from './schema-models.ts'
import { gatewayTimeouts, serverTimeouts, stopTimeouts } from './schema-timeouts.ts'
import { type StorageOption, schemeOf, storageExamples, storageOptions } from './storage-schemes.ts'

// Each field: what it takes, its default, and what it means. Validation, the type `Config`, docs/configuration.md and
// `signalbox/config.schema.json` are generated from it. A `default` in `meta` is that of the library, which the server does not override.

const strategies = ['order', 'cost', 'latency', 'throughput', 'availability', 'balanced'] as const
const hour = 3_600_000
const mebibyte = 1_048_576
const decisionLogFields = section({
  keep: whole(0).exactOptional().meta({ description: 'Decisions that are kept in memory', default: 1_000 }),
  share: fraction().exactOptional().meta({ description: 'Share of the requests whose decision is kept', default: 1 }),
  store: fraction().exactOptional().meta({
    description: 'Share of the usage rows that keep the whole decision. Those of failed and repeated requests always do',
    default: 0.1,
  }),
})

const { graceMs, maxPerProcess, maxPerAccount, maxPerLimitedAccount, maxWaitMs } = graceFacts
const defaultUsd = ({ usual }: { readonly usual: number }): number => usual / 1_000_000
const amount = () => amountInUsd('US dollars', 1_000_000).exactOptional()

const outageFields = section({
  grace_ms: whole(graceMs.least, graceMs.most).exactOptional().meta({
    description: 'Milliseconds from the beginning of an outage for which new requests are let through',
    default: graceMs.usual,
  }),
  per_process_usd: amount().meta({
    description: 'What one process may have held, or owe, at a time without the database',
    default: defaultUsd(maxPerProcess),
  }),
  per_account_usd: amount().meta({
    description: 'The same of one account without a floor: postpaid credit',
    default: defaultUsd(maxPerAccount),
  }),
  per_limited_account_usd: amount().meta({
    description: 'By how much each process may overspend prepaid credit or a budget; with 0 only free requests of theirs are let through',
    default: defaultUsd(maxPerLimitedAccount),
  }),
  max_wait_ms: whole(maxWaitMs.least, maxWaitMs.most).exactOptional().meta({
    description: 'The longest wait for an answer, after which the database is probed for half as long',
    default: maxWaitMs.usual,
  }),
  processes: whole(1, 10_000)
    .exactOptional()
    .describe('Processes that share the database: each admits its share of a limit meanwhile. Default: `workers`'),
})

/** What happens while the database is away: no requests are admitted, or some for a while and within caps (`withOutageGrace`). */
const onOutage = () =>
  either(
    `\`stop\`, \`continue\`, or an object of ${Object.keys(outageFields.shape).join(', ')}`,
    z.literal(['stop', 'continue']),
    outageFields,
  )

const storageFields = section({
  url: textThat(storageExamples, text => schemeOf(text) !== undefined).describe('The address'),
  // `storage-schemes.ts` defines which storage takes which of these.
  durability: oneOf(['process', 'full']).exactOptional().meta({
    description:
      'SQLite: what a commit survives. `process`: a crash of the process; a power failure may lose the last moments. `full`: both',
    default: 'process',
  }),
  pool_size: whole(1, 1_000).exactOptional().meta({ description: 'PostgreSQL: connections of each process', default: 10 }),
  schema: textLike('up to 48 lower-case letters, digits and underscores', /^[a-z_][a-z0-9_]{0,47}$/)
    .exactOptional()
    .meta({ description: 'PostgreSQL: the schema that has the tables', default: 'signalbox' }),
  migrate: trueOrFalse().exactOptional().meta({ description: 'PostgreSQL: whether a start may change the schema', default: true }),
  prepare: trueOrFalse().exactOptional().meta({
    description: 'PostgreSQL: whether statements are prepared. `false` for poolers that give each transaction another connection',
    default: true,
  }),
  token: secret().exactOptional().describe('libSQL: the token of the database'),
  spool: fileName().exactOptional().meta({
    description: 'PostgreSQL: what the names of the files begin with in which settlements wait while the database is away',
    default: 'signalbox',
  }),
  on_outage: onOutage().exactOptional().meta({
    description:
      'PostgreSQL: whether requests go on [while the database is away](storage.md#while-the-database-is-away), for a while and within caps',
    default: 'stop',
  }),
} satisfies Record<StorageOption | 'url', z.ZodType>)
const storage = () =>
  either(
    `${storageExamples}, or an object of url, ${storageOptions.join(', ')}`,
    textThat(storageExamples, text => schemeOf(text) !== undefined),
    storageFields,
  )

const tlsFields = section({
  ca_file: fileName().exactOptional().describe('PEM file with certificate authorities that are trusted beside the usual ones'),
  cert_file: fileName().exactOptional().describe('PEM file with a client certificate'),
  key_file: fileName().exactOptional().describe('PEM file with the key of the client certificate'),
})

const isRedis = (text: string): boolean => /^rediss?:\/\/./.test(text) && URL.canParse(text)
const redisExample = '`redis://USER:PASSWORD@HOST:6379`, or `rediss://` for TLS'
const redisAddress = () => textThat(redisExample, isRedis)
const redisFields = section({
  url: z
    .union([redisAddress(), someOf(redisExample, redisAddress())], { error: `${redisExample}, or a list of nodes of a cluster` })
    .describe('The address, or nodes of a Redis Cluster'),
  prefix: textLike('visible ASCII characters without braces', /^[\x21-\x7a|~]{0,64}$/)
    .exactOptional()
    .meta({ description: 'What every key begins with', default: 'signalbox:' }),
  max_wait_ms: whole(1, 60_000).exactOptional().meta({
    description: 'The longest wait for an answer, after which Redis counts as away',
    default: 250,
  }),
  fallback: oneOf(['storage', 'local']).exactOptional().meta({
    description: 'What counts limits while Redis is away: the storage, or each process for its share (`local`)',
    default: 'storage',
  }),
})

const storedItemFields = section({
  store: trueOrFalse()
    .exactOptional()
    .describe(
      'Whether items are sealed into the storage, so that every process finds them. Default: true with several workers, else false',
    ),
  ttl: whole(1).exactOptional().meta({ description: 'Milliseconds for which an item is kept after its last use', default: hour }),
  max_bytes: whole(1)
    .exactOptional()
    .meta({ description: 'Bytes kept for one workspace', default: 32 * mebibyte }),
  max_total_bytes: whole(1)
    .exactOptional()
    .meta({ description: 'Bytes kept in the memory of the process', default: 64 * mebibyte }),
})

// A limit or timeout is an option of core or of the server with the same name in camel case (server.ts). If absent, that option's default
// applies.

export const gatewayLimits = {
  inference_rpm: whole(1).default(1_000).describe('Requests to models per minute, for each key and model'),
  tokens_per_minute: whole(1).exactOptional().describe('Tokens per minute, for each key'),
  management_reads_rpm: whole(1).default(300).describe('Reading requests to the management API per minute, for each key'),
  management_writes_rpm: whole(1).default(60).describe('Changing requests to the management API per minute, for each key'),
  concurrent_requests: whole(1).default(200).describe('Requests to models at a time, for each key'),
  workspace: section({
    requests_per_minute: whole(1).exactOptional().describe('Requests to models per minute, for each workspace'),
    tokens_per_minute: whole(1).exactOptional().describe('Tokens per minute, for each workspace'),
    concurrent_requests: whole(1).exactOptional().describe('Requests to models at a time, for each workspace'),
  })
    .prefault({})
    .describe('Limits of each workspace that has none of its own'),
}

export const serverLimits = {
  max_body_bytes: whole(1)
    .default(32 * mebibyte)
    .describe('Bytes of the largest request body'),
  max_upload_bytes_per_workspace: whole(1)
    .exactOptional()
    .meta({
      description: 'Bytes of request bodies that one workspace may have under way at a time, in one process',
      default: 80 * mebibyte,
    }),
  max_upload_bytes_per_user: whole(1)
    .exactOptional()
    .meta({
      description: 'Bytes of request bodies that one end user may have under way at a time, in one process',
      default: 32 * mebibyte,
    }),
  max_upload_bytes: whole(1)
    .exactOptional()
    .meta({
      description: 'Bytes of request bodies under way at a time, in one process',
      default: 160 * mebibyte,
    }),
  body_bytes_per_second: whole(1).exactOptional().meta({ description: 'Bytes per second of the slowest upload', default: 1_000 }),
}

export const webSocketLimits = {
  max_connections_per_workspace: whole(1)
    .exactOptional()
    .meta({ description: 'Open connections of one workspace, in one process', default: 1_000 }),
  max_connections_per_user: whole(1).exactOptional().meta({ description: 'Open connections of one end user, in one process', default: 20 }),
  max_connections: whole(1).exactOptional().meta({ description: 'Open connections, in one process', default: 10_000 }),
  max_age_ms: whole(1).exactOptional().meta({ description: 'Milliseconds that a connection may last', default: hour }),
  max_idle_ms: whole(1).exactOptional().describe('Milliseconds that a connection may be idle. Default: any'),
  max_message_bytes: whole(1).exactOptional().describe('Bytes of the largest message. Default: `limits.max_body_bytes`'),
}

const originsExample = '`*`, or a list of origins, as in https://app.example'
const corsOrigins = () =>
  z.union([z.literal('*'), someOf(originsExample, textThat('an origin, as in https://app.example', isOrigin))], { error: originsExample })

/** The whole config file. */
export const configSchema = section({
  host: textLike('a host name or an IP address', /^[\w.:%-]{1,255}$/)
    .default('127.0.0.1')
    .describe('Address to listen on'),
  port: whole(0, 65_535).default(8787).describe('Port to listen on; 0 takes a free one'),
  workers: z
    .union([z.literal('auto'), whole(1, 128)], { error: '`auto`, or a whole number from 1 to 128' })
    .default(1)
    .describe('[Processes that share the port](#several-processes-on-one-machine); `auto` is one for each core'),
  owned_by: label().default('signalbox').describe('Shown as `owned_by` of models'),
  cors_origins: corsOrigins().exactOptional().describe('Origins whose pages may call the API. Default: none'),
  storage: storage().default('sqlite:signalbox.db').describe('Where keys, credit, budgets and usage are kept ([storage](storage.md))'),
  redis: either(`${redisExample}, or an object of url, prefix, max_wait_ms, fallback`, redisAddress(), redisFields)
    .exactOptional()
    .describe('Counts limits and running requests, and tells processes of changes ([Redis](storage.md#redis)). Default: none'),
  // The header that carries keys is split at commas.
  admin_key: textLike('`ak_` and 8 to 200 visible ASCII characters without a comma', /^ak_[\x21-\x2b\x2d-\x7e]{8,200}$/)
    .optional()
    .describe('An API key with all scopes. Default: one that is made at the first start, and shown once'),
  sealing_key: textLike('64 hex digits', /^[0-9a-fA-F]{64}$/)
    .optional()
    .describe(
      'Encrypts provider keys, reasoning state and stored items. Default: one in a file beside the SQLite database; PostgreSQL and libSQL need it',
    ),
  workspace: section({
    name: label().default('default').describe('Name of the first workspace'),
    credit_usd: amountInUsd('US dollars', 1_000_000_000).default(100).describe('Credit that it starts with'),
  })
    .prefault({})
    .describe('The first workspace'),
  catalog: either('`built-in`, `none`, or an object of file, overrides', z.literal(['built-in', 'none']), customCatalog)
    .default('built-in')
    .describe('Models and prices ([catalog](catalog.md))'),
  providers: list(provider).default([]).describe('Providers, beside those that a variable turns on ([providers](providers.md))'),
  tls: tlsFields.exactOptional().describe('Certificates for calls of providers'),
  models: list(model).default([]).describe('Models, beside those of the catalog'),
  strategy: oneOf(strategies).default('balanced').describe('How an offer is chosen where a request does not say ([routing](routing.md))'),
  hedge: trueOrFalse()
    .default(false)
    .describe('Whether a second provider may be called while the first is silent, where a request does not say ([hedging](routing.md))'),
  max_hedge_cost_usd: amountInUsd('US dollars', 1_000_000)
    .exactOptional()
    .describe('Maximum expected cost of such a second call. Default: any'),
  decision_log: either('`false`, or an object of keep, share, store', z.literal([false]), decisionLogFields)
    .default({})
    .describe('What is recorded of routing decisions; `false` records nothing'),
  stored_items: either('`false`, or an object of store, ttl, max_bytes, max_total_bytes', z.literal([false]), storedItemFields)
    .default({})
    .describe('Items of responses that later requests may refer to by id; `false` keeps none'),
  limits: section({
    ...gatewayLimits,
    ...serverLimits,
  })
    .prefault({})
    .describe('Limits'),
  web_sockets: section(webSocketLimits).prefault({}).describe('Limits of [WebSockets](websocket.md)'),
  timeouts: section({
    ...gatewayTimeouts,
    ...serverTimeouts,
    ...stopTimeouts,
  })
    .prefault({})
    .describe('Times, in milliseconds'),
  $schema: z.string({ error: 'a string' }).optional().describe('For editors: the path of `config.schema.json` of the package'),
})

/** A validated config with defaults. */
export type Config = z.output<typeof configSchema>

function isOrigin(text: string): boolean {
  return isWebAddress(text) && new URL(text).origin === text
}

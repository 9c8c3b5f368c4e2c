import { callLimitsTable } from '@signalbox/core/access'
import type { StoredItemOptions } from '@signalbox/core/request'
import { strategies } from '@signalbox/core/routing'
import type { Hooks } from '@signalbox/core/runtime'
import { bytesOfKey, keyBytes } from '@signalbox/core/runtime'
import type { Limits, Timeouts } from '@signalbox/core/upstream'
import { checkOptionTable, describeValue, inQuotes, inSource, isQuoted, type OptionTableOf } from '@signalbox/storage/option-table'
import { similarNames } from '@signalbox/storage/similar-names'
import type { BillingOptions } from '@signalbox/workspaces'
import { defaultStored, type GatewayOptions } from './options.ts'

const optionTable: OptionTableOf<GatewayOptions> = {
  providers: 'list',
  models: 'list',
  retiredModels: 'text',
  facts: 'list',
  storage: 'object',
  ownedBy: 'text',
  strategy: 'text',
  strategies: 'object',
  hedge: 'flag',
  maxHedgeCost: 'number',
  decisionLog: 'object or false',
  storedItems: 'object or false',
  seed: 'number',
  timeouts: { firstByteMs: 'number', wholeMs: 'number', deadlineMs: 'number', idleMs: 'number' } satisfies OptionTableOf<Timeouts>,
  limits: {
    inferenceRpm: 'number',
    tokensPerMinute: 'number',
    managementReadsRpm: 'number',
    managementWritesRpm: 'number',
    concurrentRequests: 'number',
    workspace: callLimitsTable,
    maxOutputTokens: 'number',
    attempts: 'number',
  } satisfies OptionTableOf<Limits>,
  transformRequest: 'function',
  hooks: {
    onRoute: 'function',
    onFailure: 'function',
    onFirstContent: 'function',
    onFinish: 'function',
    onBudget: 'function',
    onInvite: 'function',
  } satisfies OptionTableOf<Hooks>,
  billing: { onReload: 'function', hasPaymentMethod: 'function' } satisfies OptionTableOf<BillingOptions>,
  transport: 'any',
  media: 'function',
  sealingKey: 'any',
  previousSealingKeys: 'list',
  setup: 'function',
  waitUntil: 'function',
  clock: 'object',
  ids: 'object',
  logger: 'object',
}

const decisionLogTable: OptionTableOf<Exclude<GatewayOptions['decisionLog'], false | undefined>> = {
  keep: 'number',
  share: 'number',
  store: 'number',
}
const storedItemsTable: OptionTableOf<StoredItemOptions> = { store: 'flag', ttl: 'number', maxBytes: 'number', maxTotalBytes: 'number' }

/** Required options, with an example of each. */
const required = {
  providers: 'a list of providers, as in [openai({ apiKey })]',
  models: 'a list of models, such as `catalogModels` of @signalbox/catalog',
  storage: 'a storage, such as memoryStorage()',
} as const

/** Throws a TypeError that names the option, its value, and the accepted values. Models are checked when the catalog is built. */
export function checkOptions(options: GatewayOptions): void {
  checkOptionTable({ call: 'createGateway' }, options ?? {}, optionTable)
  for (const [name, takes] of Object.entries(required))
    if (options?.[name as keyof typeof required] === undefined)
      throw new TypeError(`createGateway: \`${name}\` is missing; it takes ${takes}.`)
  if (options.decisionLog) checkOptionTable({ call: 'createGateway', option: 'decisionLog' }, options.decisionLog, decisionLogTable)
  if (options.storedItems) checkOptionTable({ call: 'createGateway', option: 'storedItems' }, options.storedItems, storedItemsTable)
  if (typeof options.storage.ping !== 'function')
    throw new TypeError(`createGateway: \`storage\` is an object without stores; it takes ${required.storage}.`)
  checkProviders(options)
  checkKeys(options)
  const { seed, maxHedgeCost, retiredModels } = options
  if (retiredModels !== undefined && retiredModels !== 'error' && retiredModels !== 'successor')
    throw new TypeError(`createGateway: \`retiredModels\` is "${retiredModels}"; it takes "error" or "successor".`)
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new TypeError(`createGateway: \`seed\` is ${seed}; it takes a whole number.`)
  if (maxHedgeCost !== undefined && !(Number.isSafeInteger(maxHedgeCost) && maxHedgeCost >= 0))
    throw new TypeError(`createGateway: \`maxHedgeCost\` is ${maxHedgeCost}; it takes whole microdollars, 0 or more, as in usd(0.5).`)
  const { workspace, ...limits } = options.limits ?? {}
  for (const [group, numbers] of Object.entries({ timeouts: options.timeouts, limits, 'limits.workspace': workspace })) {
    for (const [name, value] of Object.entries(numbers ?? {})) {
      if (!Number.isSafeInteger(value) || value < 1)
        throw new TypeError(`createGateway: \`${group}.${name}\` is ${value}; it takes a whole number, 1 or more.`)
    }
  }
  checkClock(options)
  checkStored(options)
  checkItems(options)
  checkStrategies(options)
}

function checkProviders({ providers }: GatewayOptions): void {
  const ids = new Set<string>()
  for (const [at, provider] of providers.entries()) {
    if (typeof provider !== 'object' || typeof provider?.id !== 'string' || typeof provider.authorize !== 'function') {
      const hint =
        typeof provider === 'function'
          ? 'a function; call it, as in openai({ apiKey })'
          : `${describeValue(provider)}; it takes a provider, as in openai({ apiKey })`
      throw new TypeError(`createGateway: \`providers[${at}]\` is ${hint}.`)
    }
    const { id } = provider
    if (ids.has(id)) throw new TypeError(`createGateway: \`providers\` contains "${id}" twice. Give each provider its own \`id\`.`)
    ids.add(id)
  }
}

/** The stores refuse other times, so every request would fail. */
function checkClock({ clock }: GatewayOptions): void {
  const now = clock?.now()
  if (now !== undefined && !Number.isSafeInteger(now))
    throw new TypeError(`createGateway: \`clock.now()\` returned ${inSource(now)}; it returns whole Unix milliseconds.`)
}

function checkStored({ decisionLog }: GatewayOptions): void {
  const { store = defaultStored } = decisionLog || {}
  if (!(store >= 0 && store <= 1)) throw new TypeError(`createGateway: \`decisionLog.store\` is ${store}; it takes a number from 0 to 1.`)
}

function checkItems({ storedItems, storage, sealingKey }: GatewayOptions): void {
  if (!storedItems) return
  const { store, ...numbers } = storedItems
  for (const [name, value] of Object.entries(numbers))
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1))
      throw new TypeError(`createGateway: \`storedItems.${name}\` is ${value}; it takes a whole number, 1 or more.`)
  if (!store) return
  if (!storage.items)
    throw new TypeError(
      'createGateway: `storedItems.store` is true, but the storage does not support items. Remove the option, or use a storage with `items`.',
    )
  if (!sealingKey)
    throw new TypeError(
      'createGateway: `storedItems.store` is true without a `sealingKey`, so other processes could not open the stored items. Set the same `sealingKey` in all processes.',
    )
}

/** Custom strategies must not reuse built-in names, since a request that names a strategy must mean the same in every gateway. */
function checkStrategies({ strategy, strategies: own = {} }: GatewayOptions): void {
  const taken = Object.keys(own).find(name => Object.hasOwn(strategies, name))
  if (taken !== undefined)
    throw new TypeError(`createGateway: \`strategies\` holds "${taken}", which is the name of a built-in strategy. Use another name.`)
  const known = [...Object.keys(strategies), ...Object.keys(own)]
  if (strategy === undefined || known.includes(strategy)) return
  const [close] = similarNames(strategy, known)
  throw new TypeError(
    `createGateway: \`strategy\` is "${strategy}"; it takes ${known.join(', ')}, or a name from \`strategies\`.${close === undefined ? '' : ` Did you mean "${close}"?`}`,
  )
}

function checkKeys({ sealingKey, previousSealingKeys = [] }: GatewayOptions): void {
  if (!sealingKey && previousSealingKeys.length > 0)
    throw new TypeError('createGateway: `previousSealingKeys` is set without a `sealingKey`.')
  const named = [
    ['sealingKey', sealingKey] as const,
    ...previousSealingKeys.map((key, index) => [`previousSealingKeys[${index}]`, key] as const),
  ]
  for (const [name, key] of named) {
    // An environment variable that is not set.
    if (key === undefined || (key === '' && name === 'sealingKey')) continue
    const bytes = bytesOfKey(key)
    if (bytes?.length === keyBytes && bytes.some(byte => byte !== 0)) continue
    if (bytes?.length === keyBytes)
      throw new TypeError(`createGateway: \`${name}\` is all zeros, which is easy to guess; it takes ${keyBytes} random bytes.`)
    if (isQuoted(key)) throw new TypeError(`createGateway: \`${name}\` ${inQuotes}`)
    const got = bytes ? `${bytes.length} bytes` : typeof key === 'string' ? 'a string that is not hex' : `a ${typeof key}`
    throw new TypeError(
      `createGateway: \`${name}\` is ${got}; it takes ${keyBytes} random bytes, or ${2 * keyBytes} hex digits, as printed by \`openssl rand -hex ${keyBytes}\`.`,
    )
  }
}

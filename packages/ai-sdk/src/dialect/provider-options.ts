import {
  anyText,
  arrayOf,
  booleanValue,
  effortForBudget,
  integerBetween,
  literalOf,
  nonEmptyText,
  objectValue,
  optional,
  type Read,
  refuse,
  stringMap,
  textUpTo,
} from '@signalbox/dialects/common'
import { type CachePoint, isObject, type Json, type JsonObject, loggedMetadataCaps, type Prompt } from '@signalbox/dialects/protocol'
import { optionsKey } from './wire.ts'

// Decodes `providerOptions` of a call, a message or a part. Options without a counterpart are recorded and cause a warning.

/** Paths of options that have no counterpart. */
export type LostOptions = Map<string, true>

/** Maximum recorded paths; further ones count as one. */
const maxLost = 50

/** Records a path, up to the maximum. */
export function noteLost(lost: LostOptions, path: string): void {
  if (lost.size < maxLost) lost.set(path.slice(0, 200), true)
  else lost.set('prompt (more than are listed here)', true)
}

/** The content of a call's `providerOptions.gateway`. */
export interface GatewayOptions {
  /** Fields of `gateway`, as in the other dialects. */
  readonly gateway: JsonObject
  /** Models to try after the one of the call. */
  readonly fallbacks: readonly string[]
  readonly prompt: Partial<Prompt>
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] }
type JsonFields = Record<string, Json>

interface GatewayDraft {
  readonly routing: Map<string, Json>
  readonly metadata: JsonFields
  fallbacks: readonly string[]
  readonly prompt: Mutable<Partial<Prompt>>
}

type GatewayOption = (draft: GatewayDraft, value: Json, path: string) => void

/** An option that is a field of `gateway.routing`, which validates it. */
const routed =
  (field: string): GatewayOption =>
  ({ routing }, value) => {
    routing.set(field, value)
  }

const strategyBySort: ReadonlyMap<string, string> = new Map([
  ['cost', 'cost'],
  ['tps', 'throughput'],
  ['ttft', 'latency'],
])

const loggedText = textUpTo(loggedMetadataCaps.value)

/** `only`, `order` and so on, by name. */
const gatewayTable: ReadonlyMap<string, GatewayOption> = new Map<string, GatewayOption>([
  ['order', routed('order')],
  ['only', routed('only')],
  ['ignore', routed('ignore')],
  [
    'sort',
    ({ routing }, value, path) => {
      routing.set('strategy', strategyBySort.get(literalOf(...strategyBySort.keys())(value, path)) ?? null)
    },
  ],
  [
    'models',
    (draft, value, path) => {
      draft.fallbacks = arrayOf(nonEmptyText)(value, path)
    },
  ],
  [
    'user',
    ({ metadata }, value, path) => {
      metadata.user = loggedText(value, path)
    },
  ],
  [
    'tags',
    ({ metadata }, value, path) => {
      metadata.tags = loggedText(arrayOf(anyText)(value, path).join(','), path)
    },
  ],
  [
    'zeroDataRetention',
    ({ routing }, value, path) => {
      if (booleanValue(value, path)) routing.set('data_policy', 'zdr')
    },
  ],
  [
    'disallowPromptTraining',
    ({ routing }, value, path) => {
      if (booleanValue(value, path) && !routing.has('data_policy')) routing.set('data_policy', 'no_training')
    },
  ],
  [
    'serviceTier',
    ({ routing, prompt }, value, path) => {
      if (literalOf('flex', 'priority')(value, path) === 'priority') routing.set('tier', 'priority')
      else prompt.service_tier = 'flex'
    },
  ],
  [
    'routing',
    ({ routing }, value, path) => {
      for (const [field, each] of entriesOf(objectValue(value, path))) routing.set(field, each)
    },
  ],
  [
    'byok',
    (_, _value, path) =>
      refuse('unknown_parameter', `\`${path}\` is not supported: add the provider key to the workspace, as a BYOK key.`, path),
  ],
  [
    'hipaaCompliant',
    (_, value, path) => {
      if (booleanValue(value, path))
        refuse('unknown_parameter', `\`${path}\` is not supported. \`zeroDataRetention\` and \`disallowPromptTraining\` are.`, path)
    },
  ],
  ['metadata', ({ metadata }, value, path) => void Object.assign(metadata, stringMap(loggedMetadataCaps)(value, path))],
])

/** Reads `providerOptions.gateway` of a call. */
export function readGatewayOptions(options: JsonObject, lost: LostOptions): GatewayOptions {
  const draft: GatewayDraft = { routing: new Map(), metadata: {}, fallbacks: [], prompt: {} }
  for (const [name, value] of entriesOf(namespacesOf(options)[optionsKey])) {
    const path = `providerOptions.${optionsKey}.${name}`
    const read = gatewayTable.get(name)
    if (read) read(draft, value, path)
    else noteLost(lost, path)
  }
  const { routing, metadata, fallbacks, prompt } = draft
  return { gateway: { routing: Object.fromEntries(routing), ...(Object.keys(metadata).length > 0 && { metadata }) }, fallbacks, prompt }
}

type VendorOption = (prompt: Mutable<Partial<Prompt>>, value: Json, path: string) => void

const same =
  <Name extends keyof Prompt>(name: Name, read: Read<NonNullable<Prompt[Name]>>): VendorOption =>
  (prompt, value, path) => {
    prompt[name] = read(value, path)
  }

const effortNames = literalOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
const reasoningField =
  (name: 'effort' | 'summary', read: Read<string>): VendorOption =>
  (prompt, value, path) => {
    prompt.reasoning = { ...prompt.reasoning, [name]: read(value, path) }
  }

/** Sets a reasoning budget in tokens, with the closest effort. */
function withBudget(prompt: Mutable<Partial<Prompt>>, budget_tokens: number): void {
  prompt.reasoning = {
    ...prompt.reasoning,
    effort: effortForBudget(budget_tokens, prompt.max_output_tokens),
    summary: 'auto',
    budget_tokens,
  }
}

const tokens = integerBetween(1)

const anthropicThinking: VendorOption = (prompt, value, path) => {
  const body = objectValue(value, path)
  const type = optional({ body, path }, 'type', literalOf('enabled', 'adaptive', 'disabled'))
  const budget = optional({ body, path }, 'budgetTokens', tokens)
  if (type === 'disabled') prompt.reasoning = { effort: 'none' }
  else if (budget !== undefined) withBudget(prompt, budget)
}

const googleThinking: VendorOption = (prompt, value, path) => {
  const body = objectValue(value, path)
  const budget = optional({ body, path }, 'thinkingBudget', integerBetween(-1))
  const level = optional({ body, path }, 'thinkingLevel', effortNames)
  if (budget === 0) prompt.reasoning = { effort: 'none' }
  else if (budget !== undefined && budget > 0) withBudget(prompt, budget)
  else if (level !== undefined) prompt.reasoning = { ...prompt.reasoning, effort: level }
  const shown = optional({ body, path }, 'includeThoughts', booleanValue)
  if (shown !== undefined) prompt.reasoning = { ...prompt.reasoning, summary: shown ? 'auto' : 'none' }
}

/** An option that is read elsewhere, or describes what is always the case. */
const understood: VendorOption = () => {}

/** Options of other AI SDK providers that mean the same with any provider. */
const vendorTable: ReadonlyMap<string, ReadonlyMap<string, VendorOption>> = new Map([
  [
    'openai',
    new Map<string, VendorOption>([
      ['reasoningEffort', reasoningField('effort', effortNames)],
      ['reasoningSummary', reasoningField('summary', anyText)],
      ['parallelToolCalls', same('parallel_tool_calls', booleanValue)],
      ['maxToolCalls', same('max_tool_calls', tokens)],
      ['metadata', same('metadata', stringMap({ entries: 16 }))],
      ['promptCacheKey', same('prompt_cache_key', anyText)],
      ['safetyIdentifier', same('safety_identifier', anyText)],
      ['serviceTier', same('service_tier', anyText)],
      ['user', same('user', anyText)],
      [
        'textVerbosity',
        (prompt, value, path) => {
          prompt.text = { ...prompt.text, verbosity: anyText(value, path) }
        },
      ],
      ['strictJsonSchema', understood],
      ['store', understood],
    ]),
  ],
  [
    'anthropic',
    new Map<string, VendorOption>([
      ['thinking', anthropicThinking],
      ['effort', reasoningField('effort', effortNames)],
    ]),
  ],
  ['google', new Map<string, VendorOption>([['thinkingConfig', googleThinking]])],
])

/** Reads `providerOptions` of a call, except those of the gateway. */
export function vendorOptions(options: JsonObject, lost: LostOptions): Partial<Prompt> {
  const maxOutputTokens = optional({ body: options, path: '' }, 'maxOutputTokens', tokens)
  const prompt: Mutable<Partial<Prompt>> = maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }
  for (const [vendor, fields] of Object.entries(namespacesOf(options))) {
    if (vendor === optionsKey) continue
    const known = vendorTable.get(vendor)
    for (const [name, value] of entriesOf(fields)) {
      const path = `providerOptions.${vendor}.${name}`
      const read = known?.get(name)
      if (read) read(prompt, value, path)
      else noteLost(lost, path)
    }
  }
  return prompt
}

/** Records the options of a message, part or tool that are neither the gateway's nor a cache point. The same options are recorded once for all places. */
export function noteLostOptions(body: JsonObject, place: string, lost: LostOptions): void {
  for (const [vendor, fields] of Object.entries(namespacesOf(body))) {
    if (vendor === optionsKey) continue
    for (const [name] of entriesOf(fields)) if (!cacheMarks.has(name)) noteLost(lost, `${place}.providerOptions.${vendor}.${name}`)
  }
}

/** Names of prompt cache marks in AI SDK providers. */
const cacheMarks: ReadonlySet<string> = new Set(['cacheControl', 'cache_control', 'cachePoint'])

/** The cache point of a message, a part or a tool. */
export function cachePointOf(body: JsonObject): CachePoint | undefined {
  for (const fields of Object.values(namespacesOf(body)))
    for (const [name, mark] of entriesOf(fields)) {
      if (!cacheMarks.has(name) || !isObject(mark)) continue
      return mark.ttl === '5m' || mark.ttl === '1h' ? { ttl: mark.ttl } : {}
    }
  return undefined
}

const namespacesOf = ({ providerOptions }: JsonObject): JsonObject => (isObject(providerOptions) ? providerOptions : {})

/** The fields that are set. */
const entriesOf = (fields: Json | undefined): readonly (readonly [string, Json])[] =>
  isObject(fields)
    ? Object.entries(fields).flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, value] as const]))
    : []

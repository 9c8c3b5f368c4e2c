import { roles } from '../access/kinds.ts'
import { bodyCaps } from '../protocol/body-caps.ts'
import { dataPolicyDemands } from '../protocol/provider-facts.ts'
import type { AnalyticsQuery } from './analytics.ts'
import type { ApiKeyChange, NewApiKey } from './api-keys.ts'
import type { ByokKeyChange, NewByokKey } from './byok/keys.ts'
import type { Rule, Shape, Signatures } from './check-shape.ts'
import type { AutoReload, AutoReloadChange } from './money/auto-reload.ts'
import type { LedgerQuery, NewCredit } from './money/billing.ts'
import type { BudgetChange, NewBudget } from './money/check-budgets.ts'
import type { KeyBudget } from './money/key-budgets.ts'
import type { SubscriptionChange } from './money/subscription.ts'
import type { RoutingDefaultsChange } from './routing-defaults.ts'
import type { SettingsChange } from './settings.ts'
import type { NewWorkspace, Workspace, Workspaces } from './workspaces.ts'

const text: Rule = { holds: value => typeof value === 'string', takes: 'a text' }
const number: Rule = { holds: value => typeof value === 'number', takes: 'a number' }
const flag: Rule = { holds: value => typeof value === 'boolean', takes: 'true or false' }
const listOf = (kind: string, each: (value: unknown) => boolean): Rule => ({
  holds: value => Array.isArray(value) && value.length <= bodyCaps.entries && value.every(each),
  takes: `a list of ${kind}, ${bodyCaps.entries} at most`,
})
const texts = listOf('texts', value => typeof value === 'string')
const numbers = listOf('numbers', value => typeof value === 'number')
const date: Rule = { holds: value => value instanceof Date, takes: 'a Date, as in `new Date("2030-01-31T12:00:00Z")`' }
const time: Rule = {
  holds: value => typeof value === 'number' && Math.abs(value) <= 8.64e15,
  takes: 'Unix milliseconds',
}
const count: Rule = { holds: value => Number.isSafeInteger(value) && (value as number) > 0, takes: 'a whole number, 1 or more' }
const oneOf = (...words: readonly string[]): Rule => ({
  holds: value => words.some(word => word === value),
  takes: `one of ${words.join(', ')}`,
})
const within = (shape: Shape): Rule => ({
  holds: value => typeof value === 'object' && value !== null && !Array.isArray(value),
  takes: `an object, with ${Object.keys(shape).join(', ')}`,
  within: shape,
})
const must = (rule: Rule): Rule => ({ ...rule, isNeeded: true })
const orNull = (rule: Rule): Rule => ({ ...rule, holds: value => value === null || rule.holds(value), takes: `${rule.takes}, or null` })

const page = { after: text, limit: count }
const limits = { requestsPerMinute: number, tokensPerMinute: number, concurrentRequests: number }
const keyBudget: Shape<KeyBudget> = { limitUsd: number, enforce: flag, includeByok: flag }
const budgetChange: Shape<BudgetChange> = { name: text, limitUsd: number, enforce: flag, includeByok: flag, alertAt: numbers }
const credit: Shape<NewCredit> = { amount: must(number), reference: must(text), note: text }
const range: Shape<AnalyticsQuery> = { from: time, to: time, model: text, provider: text, apiKeyId: text }
const role = oneOf(...roles)

const newKey: Shape<NewApiKey> = {
  name: must(text),
  scopes: { holds: value => value === '*' || texts.holds(value), takes: 'a list of scopes, or "*"' },
  rateLimitRpm: number,
  limits: within({ tokensPerMinute: number, concurrentRequests: number }),
  expiresAt: date,
  budget: within({ ...keyBudget, limitUsd: must(number) }),
  secret: text,
  playground: flag,
}
const keyChange: Shape<ApiKeyChange> = {
  name: text,
  rateLimitRpm: orNull(number),
  expiresAt: orNull(date),
  budget: orNull(within(keyBudget)),
}
const newBudget: Shape<NewBudget> = {
  ...budgetChange,
  name: must(text),
  limitUsd: must(number),
  scope: oneOf('workspace', 'api_key'),
  apiKeyId: text,
  period: oneOf('day', 'week', 'month', 'total'),
}
const newByokKey: Shape<NewByokKey> = {
  provider: must(text),
  apiKey: must(text),
  name: must(text),
  isDefault: flag,
  accountTier: text,
  extra: { holds: value => typeof value === 'object' && value !== null && texts.holds(Object.values(value)), takes: 'an object of texts' },
}
const byokKeyChange: Shape<ByokKeyChange> = { name: text, isDefault: flag, disabled: flag, accountTier: orNull(text), apiKey: text }
const settings: Shape<SettingsChange> = {
  name: text,
  dataPolicyRequired: orNull(oneOf(...dataPolicyDemands)),
  allowedProviders: orNull(texts),
  blockedProviders: orNull(texts),
  allowedModels: orNull(texts),
  logRetentionDays: orNull(number),
  hedgeMaxExtraCost: orNull(number),
  ownKeysOnly: orNull(flag),
}
const routingDefaults: Shape<RoutingDefaultsChange> = {
  strategy: orNull(text),
  allowFallbacks: orNull(flag),
  order: orNull(texts),
  only: orNull(texts),
  ignore: orNull(texts),
  maxPrice: orNull(within({ input: number, output: number })),
  timeoutMs: orNull(number),
  deadlineMs: orNull(number),
  byokFirst: orNull(flag),
}
const subscription: Shape<SubscriptionChange> = {
  plan: orNull(text),
  status: orNull(oneOf('active', 'past_due', 'canceled')),
  byokMonthlyRequestCap: orNull(number),
  currentPeriodStart: orNull(date),
  currentPeriodEnd: orNull(date),
}
const newWorkspace: Shape<NewWorkspace> = { id: text, name: must(text), billing: oneOf('prepaid', 'postpaid') }
const autoReload: Shape<AutoReloadChange> = { enabled: flag, threshold: number, target: number }
const ledger: Shape<LedgerQuery> = { from: time, to: time, ...page }

/** What each verb takes. Shapes only: what a value may be is said where it is used. */
export const signatures: { readonly [Resource in keyof Workspace]: Signatures<Workspace[Resource]> } = {
  apiKeys: {
    create: { input: newKey },
    list: { options: { ...page, includeRevoked: flag } },
    get: { id: true },
    update: { id: true, input: keyChange },
    revoke: { id: true, options: { keepMade: flag } },
    usage: { id: true, options: { period: oneOf('day', 'week', 'month') } },
  },
  byokKeys: {
    create: { input: newByokKey },
    list: { options: { ...page, provider: text } },
    get: { id: true },
    update: { id: true, input: byokKeyChange },
    validate: { id: true },
    delete: { id: true },
  },
  billing: { credit: { input: credit }, adjust: { input: credit }, ledger: { options: ledger } },
  budgets: {
    create: { input: newBudget },
    list: { options: page },
    get: { id: true },
    update: { id: true, input: budgetChange },
    delete: { id: true },
  },
  settings: { update: { input: settings } },
  limits: {
    update: {
      input: Object.fromEntries(Object.entries(limits).map(([name, rule]) => [name, orNull(rule)])),
    },
  },
  routingDefaults: { update: { input: routingDefaults } },
  members: {
    list: { options: page },
    add: { input: { email: must(text), name: must(text), role: must(role) } },
    update: { id: true, input: { role } },
    remove: { id: true },
  },
  invites: { list: { options: page }, create: { input: { email: must(text), role: must(role) } }, revoke: { id: true } },
  auditEvents: { list: { options: { ...page, from: time, to: time, event: text, actorKeyId: text } } },
  analytics: {
    summary: { options: range },
    trends: { options: { ...range, interval: oneOf('hour', 'day'), groupBy: oneOf('model', 'provider', 'key') } },
    requests: { options: { ...range, ...page } },
    request: { id: true },
    routing: { id: true },
    count: { input: range },
  },
  subscription: { set: { input: subscription } },
}

export const reloadSignatures: Signatures<AutoReload> = { update: { input: autoReload } }

export const houseSignatures: Signatures<Pick<Workspaces, 'create' | 'acceptInvite' | 'list'>> = {
  create: { input: newWorkspace },
  acceptInvite: { input: { token: must(text), name: must(text), requestId: text, ip: text } },
  list: { options: page },
}

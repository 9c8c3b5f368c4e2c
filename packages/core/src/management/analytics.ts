import type { Evidence } from '@signalbox/router/decision-log'
import type { Awaitable, TotalsQuery, UsageQuery, UsageRow, UsageTotal } from '@signalbox/storage'
import { quantileOf } from '@signalbox/storage/histogram'
import { requestIdOf } from '../dialects/ids.ts'
import { GatewayError, orStoreDown } from '../errors/gateway-error.ts'
import { dayMs } from '../protocol/time.ts'
import { invalidValue } from '../resources/invalid-value.ts'
import { pageFields } from '../resources/page.ts'
import { absent } from './check.ts'
import type { CallSpecs } from './check-calls.ts'
import type { WorkspaceContext } from './ports.ts'

/** Which requests. Times are Unix milliseconds, `from` included, `to` not; default: the last 30 days. */
export interface AnalyticsQuery {
  readonly from?: number
  readonly to?: number
  /** Canonical id. */
  readonly model?: string
  readonly provider?: string
  readonly apiKeyId?: string
}

/** The usage of a workspace: totals, trends, and the request log. */
export interface Analytics {
  /** @example (await gateway.workspaces(id).analytics.summary()).firstContentMs.p95 */
  summary(query?: AnalyticsQuery): Promise<Summary>
  /** One series for each group, or one in all. Intervals without a request are left out. */
  trends(
    query?: AnalyticsQuery & { readonly interval?: 'hour' | 'day'; readonly groupBy?: TotalsQuery['groupBy'] },
  ): Promise<readonly Series[]>
  /** The request log, newest first: never prompt or answer text. */
  requests(query?: AnalyticsQuery & { readonly after?: string; readonly limit?: number }): Promise<readonly UsageRow[]>
  /**
   * One row of the request log, by its own id or by that of its answer.
   * @throws `resource_not_found`
   */
  request(id: string): Promise<UsageRow>
  /**
   * Why a request went where it did: by its id, or by that of its answer.
   * @throws `resource_not_found`: there is no such request. `routing_evidence_not_kept`: there is, and nothing that can be read here is kept of it.
   */
  routing(id: string): Promise<Evidence>
  /** How many requests there are, counted up to `most`. */
  count(query: AnalyticsQuery, most: number): Promise<number>
  /** The request log a page at a time, newest first, at most `most` rows: memory holds one page. */
  pages(query: AnalyticsQuery, most: number): AsyncIterableIterator<readonly UsageRow[]>
}

/** Counts, tokens and money (microdollars). Quantiles are off by 2.5 % at most; absent where nothing was measured. */
export interface Summary extends Omit<UsageTotal, 'start' | 'group' | 'durations' | 'firstContents' | 'speeds'> {
  readonly from: number
  readonly to: number
  readonly durationMs: Quantiles
  readonly firstContentMs: Quantiles
  readonly tokensPerSecond: Pick<Quantiles, 'p50'>
}

interface Quantiles {
  readonly p50?: number
  readonly p95?: number
  readonly p99?: number
}

/** A trend: figures per interval, of one group or of all requests. */
export interface Series {
  /** Model, provider or key id, where groups were asked for. */
  readonly group?: string
  readonly points: readonly (Omit<Summary, 'from' | 'to'> & { readonly start: number })[]
}

const notKept = (id: string): GatewayError =>
  new GatewayError('routing_evidence_not_kept', {
    message: `No routing evidence of the request "${id.slice(0, 100)}" is kept: it was refused before it was routed, \`record\` of the gateway kept nothing of it, or another version wrote it. Set \`record.store\` above 0 to keep it with the request log.`,
  })

const usualDays = 30
/** A page of an export. */
const rowsAtOnce = 500
/** So that a trend by the hour stays one answer. */
const maxPoints = 1_000

export function analyticsOf({ ports, workspaceId }: WorkspaceContext): Analytics {
  const { usage } = ports.storage
  const asked = (query: AnalyticsQuery): UsageQuery => rangeOf(query, workspaceId, ports.clock.now())
  const request = async (id: string): Promise<UsageRow> => {
    const find = (key: string): Awaitable<UsageRow | undefined> => orStoreDown(() => usage.find(workspaceId, key))
    const row = (await find(id)) ?? (await find(requestIdOf({ id })))
    if (!row) throw absent('request', id)
    return row
  }
  return {
    request,
    async summary(query = {}) {
      const range = asked(query)
      const [total] = await orStoreDown(() => usage.totals(range))
      return { from: range.from, to: range.to, ...summaryOf(total) }
    },
    async trends({ interval = 'day', groupBy, ...query } = {}) {
      const range = asked(query)
      if (interval === 'hour' && range.to - range.from > (maxPoints * dayMs) / 24)
        throw invalidValue('interval', interval, `\`day\` for more than ${Math.floor(maxPoints / 24)} days`)
      return seriesOf(await orStoreDown(() => usage.totals({ ...range, interval, ...(groupBy && { groupBy }) })))
    },
    async requests({ after, limit = 100, ...query } = {}) {
      const range = asked(query)
      return orStoreDown(() => usage.list({ ...range, limit, ...(after !== undefined && { after }) }))
    },
    async routing(id) {
      const evidence = ports.evidenceFrom(await request(id))
      if (!evidence) throw notKept(id)
      return evidence
    },
    async count(query, most) {
      const range = asked(query)
      return orStoreDown(() => usage.count({ ...range, limit: most }))
    },
    async *pages(query, most) {
      const range = asked(query)
      let after: string | undefined
      for (let left = most; left > 0; ) {
        const limit = Math.min(left, rowsAtOnce)
        const rows = await orStoreDown(() => usage.list({ ...range, limit, ...(after !== undefined && { after }) }))
        if (rows.length > 0) yield rows
        if (rows.length < limit) return
        after = rows.at(-1)?.id
        left -= rows.length
      }
    },
  }
}

/** Years in which nothing was kept need not be looked through. */
const maxDays = 400

function rangeOf({ from, to, model, provider, apiKeyId }: AnalyticsQuery, workspaceId: string, now: number): UsageQuery {
  const until = to ?? Math.max(now + 1, from ?? 0)
  const since = from ?? until - usualDays * dayMs
  if (!(since < until)) throw invalidValue('from', new Date(since).toISOString(), 'a time before `to`')
  if (until - since > maxDays * dayMs)
    throw invalidValue('from', new Date(since).toISOString(), `a time at most ${maxDays} days before \`to\``)
  return {
    workspaceId,
    from: since,
    to: until,
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(apiKeyId !== undefined && { keyId: apiKeyId }),
  }
}

type Figures = Omit<Summary, 'from' | 'to'>

function summaryOf(total: UsageTotal | undefined): Figures {
  if (!total) return nothing
  const { start: _, group: __, durations, firstContents, speeds, ...counts } = total
  const { p50 } = quantilesOf(speeds)
  return {
    ...counts,
    durationMs: quantilesOf(durations),
    firstContentMs: quantilesOf(firstContents),
    tokensPerSecond: p50 === undefined ? {} : { p50 },
  }
}

const nothing: Figures = {
  requests: 0,
  errors: 0,
  rateLimited: 0,
  abandoned: 0,
  interrupted: 0,
  fallbacks: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  byokRequests: 0,
  byokCost: 0,
  durationMs: {},
  firstContentMs: {},
  tokensPerSecond: {},
}

const asked = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const

const quantilesOf = (bins: UsageTotal['durations']): Quantiles =>
  Object.fromEntries(
    asked.flatMap(([name, share]) => {
      const value = quantileOf(bins, share)
      return value === undefined ? [] : [[name, Math.round(value * 10) / 10]]
    }),
  )

function seriesOf(totals: readonly UsageTotal[]): readonly Series[] {
  const points = new Map<string | undefined, Series['points'][number][]>()
  for (const total of totals) {
    const series = points.get(total.group) ?? []
    points.set(total.group, series)
    series.push({ start: total.start ?? 0, ...summaryOf(total) })
  }
  return Array.from(points, ([group, each]) => ({ ...(group !== undefined && { group }), points: each }))
}

const rangeFields = {
  from: { kind: 'milliseconds' },
  to: { kind: 'milliseconds' },
  model: { kind: 'string' },
  provider: { kind: 'string' },
  apiKeyId: { kind: 'string' },
} as const

/** The arguments of the methods. */
export const analyticsCalls: CallSpecs<Analytics> = {
  summary: { options: rangeFields },
  trends: {
    options: {
      ...rangeFields,
      interval: { kind: 'enum', values: ['hour', 'day'] },
      groupBy: { kind: 'enum', values: ['model', 'provider', 'key'] },
    },
  },
  requests: { options: { ...rangeFields, ...pageFields } },
  request: { id: true },
  routing: { id: true },
  count: { options: rangeFields },
}

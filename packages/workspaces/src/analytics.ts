import { keyIdOfUser, userPrefix } from '@signalbox/core/access'
import { invalidValueError, maxSeries } from '@signalbox/core/resources'
import { orStoreDown } from '@signalbox/core/runtime'
import { requestIdOf } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import { dayMs } from '@signalbox/dialects/protocol'
import type { Evidence } from '@signalbox/router/decision-log'
import type { Awaitable, TotalsQuery, UsageQuery, UsageRow, UsageTotal } from '@signalbox/storage'
import { quantileOf } from '@signalbox/storage/histogram'
import { notFoundError } from './find-workspace.ts'
import type { ManagedWorkspace } from './ports.ts'

/** Filters of requests. Times are Unix milliseconds, `from` inclusive, `to` exclusive. Default: the last 30 days. */
export interface AnalyticsQuery {
  readonly from?: number
  readonly to?: number
  /** Canonical model id. */
  readonly model?: string
  readonly provider?: string
  readonly apiKeyId?: string
  /** The app's id of an end user. Cannot be combined with `apiKeyId`. */
  readonly user?: string
  readonly tag?: string
}

/** Filters of requests, and how to group them. */
interface TrendsQuery extends AnalyticsQuery {
  /** Default: `day`. */
  readonly interval?: 'hour' | 'day'
  readonly groupBy?: GroupBy
  /** Maximum number of groups, 1 to 100. Default: 100. */
  readonly top?: number
}

type GroupBy = NonNullable<TotalsQuery['groupBy']> | 'user'

/** The usage of a workspace: totals, trends, and the request log. */
export interface Analytics {
  /** @example (await gateway.workspaces(id).analytics.summary()).firstContentMs.p95 */
  summary(query?: AnalyticsQuery): Promise<Summary>
  /**
   * One series for each group, or a single series. Intervals without requests are left out. If there are more than `top` groups, those
   * with the highest cost are returned. A request counts once for each of its tags, and not at all in tag groups if it has none. Grouping
   * by `user` leaves out the requests of API keys.
   */
  trends(query?: TrendsQuery): Promise<readonly Series[]>
  /** The request log, newest first. It never contains prompt or response text. */
  requests(query?: AnalyticsQuery & { readonly after?: string; readonly limit?: number }): Promise<readonly UsageRow[]>
  /**
   * A row of the request log, by the id of the request or of its response.
   * @throws `resource_not_found`
   */
  request(id: string): Promise<UsageRow>
  /**
   * The routing evidence of a request: why it was routed as it was. By the id of the request or of its response.
   * @throws `resource_not_found`, `routing_evidence_not_kept` (the request exists, but no readable evidence of it is kept)
   */
  routing(id: string): Promise<Evidence>
  /** The number of matching requests, counted up to `most`. */
  count(query: AnalyticsQuery, most: number): Promise<number>
  /** Reads the request log in pages, newest first, up to `most` rows. Only one page is in memory at a time. */
  pages(query: AnalyticsQuery, most: number): AsyncIterableIterator<readonly UsageRow[]>
}

/** Counts, tokens and money (microdollars). Quantiles are accurate to 2.5 %, and absent if nothing was measured. */
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
  /** The model, provider, key id, user or tag, if grouped. */
  readonly group?: string
  readonly points: readonly (Omit<Summary, 'from' | 'to'> & { readonly start: number })[]
}

const usualDays = 30
/** Rows per page of an export. */
const rowsAtOnce = 500
/** Limits the size of a response with hourly intervals. */
const maxPoints = 1_000

export function analyticsOf(managed: ManagedWorkspace): Analytics {
  const { usage } = managed.storage
  const { workspaceId, reports } = managed
  const usageQueryOf = (query: AnalyticsQuery): UsageQuery => rangeOf(query, workspaceId, managed.clock.now())
  const request = async (id: string): Promise<UsageRow> => {
    const find = (key: string): Awaitable<UsageRow | undefined> => orStoreDown(() => usage.find(workspaceId, key))
    const row = (await find(id)) ?? (await find(requestIdOf({ id })))
    if (!row) throw notFoundError('request', id)
    return row
  }
  return {
    request,
    async summary(query = {}) {
      const range = usageQueryOf(query)
      const [total] = await reports.run(workspaceId, () => orStoreDown(() => usage.totals(range)), { isFirst: true })
      return { from: range.from, to: range.to, ...summaryOf(total) }
    },
    async trends({ interval = 'day', groupBy, top = maxSeries, ...query } = {}) {
      const range = usageQueryOf(query)
      if (interval === 'hour' && range.to - range.from > (maxPoints * dayMs) / 24)
        throw invalidValueError('interval', interval, `\`day\` for more than ${Math.floor(maxPoints / 24)} days`)
      const totals = (query: TotalsQuery, isFirst = false) =>
        reports.run(workspaceId, () => orStoreDown(() => usage.totals(query)), { isFirst })
      const group = groupBy && groupings[groupBy]
      const collected = collectSeries(group)
      const read = async (query: TotalsQuery): Promise<void> => {
        const found = await totals(query, !group)
        await reports.run(workspaceId, () => found.forEach(collected.add))
      }
      if (!group) {
        await read({ ...range, interval })
        return collected.series()
      }
      // One group more than returned shows whether there are more. If so, each group is read separately: there may be a million users.
      const found = await totals({ ...range, ...group.query, top: top + 1 }, true)
      if (found.length <= top) {
        for (const part of partsOf(range, interval)) await read({ ...part, ...group.query, interval })
        return collected.series()
      }
      const largest = [...found].sort((a, b) => b.cost - a.cost || b.requests - a.requests).slice(0, top)
      for (const { group: name = '' } of largest) await read({ ...range, ...group.query, [group.filter]: name, interval })
      return collected.series()
    },
    async requests({ after, limit = 100, ...query } = {}) {
      const range = usageQueryOf(query)
      return orStoreDown(() => usage.list({ ...range, limit, after }))
    },
    async routing(id) {
      const evidence = managed.evidenceFrom(await request(id))
      if (!evidence)
        throw new GatewayError('routing_evidence_not_kept', {
          message: `No routing evidence is stored for the request "${id.slice(0, 100)}": it was refused before routing, was not recorded (option \`decisionLog\`), or was written by another version. Set \`decisionLog.store\` above 0 to store evidence with the request log.`,
        })
      return evidence
    },
    async count(query, most) {
      const range = usageQueryOf(query)
      return reports.run(workspaceId, () => orStoreDown(() => usage.count({ ...range, limit: most })), { isFirst: true })
    },
    async *pages(query, most) {
      const range = usageQueryOf(query)
      let after: string | undefined
      for (let left = most; left > 0; ) {
        const limit = Math.min(left, rowsAtOnce)
        const page = { ...range, limit, after }
        const rows = await reports.run(workspaceId, () => orStoreDown(() => usage.list(page)), { isFirst: after === undefined })
        if (rows.length > 0) yield rows
        if (rows.length < limit) return
        after = rows.at(-1)?.id
        left -= rows.length
      }
    },
  }
}

/** No data is kept for longer than this, so earlier days need not be scanned. */
const maxDays = 400

function rangeOf({ from, to, model, provider, apiKeyId, user, tag }: AnalyticsQuery, workspaceId: string, now: number): UsageQuery {
  const until = to ?? Math.max(now + 1, from ?? 0)
  const since = from ?? until - usualDays * dayMs
  if (!(since < until)) throw invalidValueError('from', new Date(since).toISOString(), 'a time before `to`')
  if (until - since > maxDays * dayMs)
    throw invalidValueError('from', new Date(since).toISOString(), `a time at most ${maxDays} days before \`to\``)
  if (apiKeyId !== undefined && user !== undefined) throw invalidValueError('user', user, 'no value beside `apiKeyId`')
  const keyId = user === undefined ? apiKeyId : keyIdOfUser(user)
  return {
    workspaceId,
    from: since,
    to: until,
    model,
    provider,
    keyId,
    tag,
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

const quantiles = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const

const quantilesOf = (bins: UsageTotal['durations']): Quantiles =>
  Object.fromEntries(
    quantiles.flatMap(([name, share]) => {
      const value = quantileOf(bins, share)
      return value === undefined ? [] : [[name, Math.round(value * 10) / 10]]
    }),
  )

/** A grouping: the store query, and the filter for one of its groups. */
interface GroupSpec {
  readonly query: Pick<TotalsQuery, 'groupBy' | 'groupPrefix'>
  readonly filter: 'model' | 'provider' | 'keyId' | 'tag'
}

const groupings: Readonly<Record<GroupBy, GroupSpec>> = {
  model: { query: { groupBy: 'model' }, filter: 'model' },
  provider: { query: { groupBy: 'provider' }, filter: 'provider' },
  key: { query: { groupBy: 'key' }, filter: 'keyId' },
  user: { query: { groupBy: 'key', groupPrefix: userPrefix }, filter: 'keyId' },
  tag: { query: { groupBy: 'tag' }, filter: 'tag' },
}

/** The series of totals, which are added in the order of their intervals. */
function collectSeries({ query: { groupPrefix = '' } }: Pick<GroupSpec, 'query'> = { query: {} }) {
  const points = new Map<string | undefined, Series['points'][number][]>()
  return {
    add(total: UsageTotal): void {
      const series = points.get(total.group) ?? []
      points.set(total.group, series)
      series.push({ start: total.start ?? 0, ...summaryOf(total) })
    },
    series: (): readonly Series[] => Array.from(points, ([group, each]) => ({ group: group?.slice(groupPrefix.length), points: each })),
  }
}

/** Days that are read in one step, if there is a total for each group in each interval. */
const daysAtOnce = { hour: 1, day: 30 } as const

/** The parts of a time range, each of whole intervals. */
function partsOf(range: UsageQuery, interval: 'hour' | 'day'): readonly UsageQuery[] {
  const partMs = daysAtOnce[interval] * dayMs
  const parts: UsageQuery[] = []
  for (let { from } = range; from < range.to; ) {
    const to = Math.min(range.to, (Math.floor(from / partMs) + 1) * partMs)
    parts.push({ ...range, from, to })
    from = to
  }
  return parts
}

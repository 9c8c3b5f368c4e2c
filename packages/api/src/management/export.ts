import type { Analytics, AnalyticsQuery } from '@signalbox/core/management'
import { sourceOf } from '@signalbox/core/runtime'
import type { ApiReply } from '../api.ts'
import type { Call } from '../route.ts'
import { type RequestView, requestView } from './request-view.ts'

/** The columns, in order. What callers can write themselves stands in `metadata` and in the names of models. */
const columns: Readonly<Record<string, (row: RequestView) => unknown>> = {
  id: row => row.id,
  at: row => row.at,
  api_key_id: row => row.api_key_id,
  model_requested: row => row.model_requested,
  model: row => row.model,
  provider: row => row.provider,
  strategy: row => row.strategy,
  status: row => row.status,
  error_code: row => row.error_code,
  stream: row => row.stream,
  byok: row => row.byok,
  input_tokens: row => row.tokens.input,
  output_tokens: row => row.tokens.output,
  cached_tokens: row => row.tokens.cached,
  cache_write_tokens: row => row.tokens.cache_write,
  reasoning_tokens: row => row.tokens.reasoning,
  estimated: row => row.estimated,
  cost_usd: row => row.cost_usd,
  byok_cost_usd: row => row.byok_cost_usd,
  ttft_ms: row => row.ttft_ms,
  duration_ms: row => row.duration_ms,
  attempts: row => row.attempts,
  warnings: row => row.warnings.join(' '),
  metadata: row => (Object.keys(row.metadata).length === 0 ? '' : JSON.stringify(row.metadata)),
  tags: row => row.tags.join(','),
}

/** A page in memory at a time: the first byte does not wait for the last row. */
export async function exportRequests(call: Call, analytics: Analytics, asked: AnalyticsQuery): Promise<ApiReply> {
  const limit = call.site.settings.exportRows
  // What comes in while the export runs is not part of it: the headers tell its rows before they are read.
  const query = { ...asked, to: asked.to ?? call.gateway.clock.now() + 1 }
  const [count, lines] = await Promise.all([analytics.count(query, limit + 1), linesOf(analytics.pages(query, limit))])
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="requests.csv"',
      'x-export-row-count': String(Math.min(count, limit)),
      'x-export-row-limit': String(limit),
      'x-export-truncated': String(count > limit),
    },
    body: sourceOf(untilOver(lines, call)),
  }
}

/** Loaded when the first export is requested: programs without exports do not pay for it. */
async function linesOf(pages: ReturnType<Analytics['pages']>): Promise<AsyncGenerator<string, undefined>> {
  const { stringify } = await import('csv-stringify/browser/esm/sync')
  const csv = (rows: readonly (readonly string[])[]): string =>
    stringify(rows as string[][], { escape_formulas: true, record_delimiter: '\r\n', quoted_match: /[\r\n]/ })
  return (async function* () {
    yield csv([Object.keys(columns)])
    for await (const rows of pages) yield csv(rows.map(row => Object.values(columns).map(cell => cellText(cell(requestView(row))))))
    return undefined
  })()
}

const cellText = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** The request is over with its last line. */
function untilOver(lines: AsyncGenerator<string, undefined>, { log }: Call): AsyncIterator<string, undefined> {
  const ended = <T>(step: T): T => {
    log.end()
    return step
  }
  return {
    next: async () => {
      const step = await lines.next()
      return step.done ? ended(step) : step
    },
    return: async () => ended(await lines.return(undefined)),
  }
}

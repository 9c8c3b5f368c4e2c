import { resources } from '@signalbox/core/resources'
import { sourceOf } from '@signalbox/core/runtime'
import type { Analytics, AnalyticsQuery } from '@signalbox/workspaces'
import type { ApiReply } from '../api.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { optionsIn, queryOf, workspaceFacts } from './endpoint-routes.ts'
import { loggedRequestReply, type RequestRow } from './replies/analytics.ts'
import { replyOf } from './replies/reply-table.ts'

/** The columns, in order. Text that callers can choose is in `metadata`, `tags` and the model names. */
const columns = [
  ...['id', 'at', 'api_key_id', 'model_requested', 'model', 'provider', 'strategy', 'status', 'error_code', 'stream', 'byok'],
  ...['input_tokens', 'output_tokens', 'cached_tokens', 'cache_write_tokens', 'reasoning_tokens', 'estimated', 'cost_usd'],
  ...['byok_cost_usd', 'ttft_ms', 'duration_ms', 'attempts', 'warnings', 'metadata', 'tags'],
]

/** The cells of a row: its JSON fields, with lists and objects converted to one text each. */
function cellsOf(row: RequestRow, call: Call): readonly string[] {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens, warnings, metadata = {}, tags = [] } = row
  const cells = new Map<string, unknown>([
    ...Object.entries(replyOf(loggedRequestReply, row, call)),
    ['input_tokens', inputTokens],
    ['output_tokens', outputTokens],
    ['cached_tokens', cachedTokens],
    ['cache_write_tokens', cacheWriteTokens],
    ['reasoning_tokens', reasoningTokens],
    ['warnings', warnings.join(' ')],
    ['metadata', Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata)],
    ['tags', tags.join(',')],
  ])
  return columns.map(name => cellText(cells.get(name)))
}

const { summary } = resources.analytics

/** The request log as a file. */
export const exportRoute: WorkspaceRoute = {
  ...workspaceFacts('GET'),
  path: '/v1/workspaces/:workspace_id/analytics/export',
  client: 'analytics.export',
  needs: ['usage:read'],
  summary: 'Export the request log as CSV, newest first, up to the number of rows that the response headers state.',
  query: [...queryOf(summary), { name: 'format', description: 'Default: `csv`.', values: ['csv'] }],
  reply: 'RequestExport',
  media: 'text/csv',
  replyHeaders: ['X-Export-Row-Count', 'X-Export-Row-Limit', 'X-Export-Truncated'],
  errors: ['concurrent_requests_exceeded'],
  handler: (call, { analytics }) => exportRequests(call, analytics, optionsIn(summary.options, call.query)),
}

/** Streams page by page, so the first byte does not wait for the last row. */
async function exportRequests(call: Call, analytics: Analytics, range: AnalyticsQuery): Promise<ApiReply> {
  const limit = call.site.settings.maxExportRows
  // Requests that arrive during the export are not part of it, because the headers state the number of rows beforehand.
  const query = { ...range, to: range.to ?? call.gateway.clock.now() + 1 }
  const [count, lines] = await Promise.all([analytics.count(query, limit + 1), linesOf(analytics.pages(query, limit), call)])
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

/** Loaded with the first export, so that programs without exports do not load it. */
async function linesOf(pages: ReturnType<Analytics['pages']>, call: Call): Promise<AsyncGenerator<string, undefined>> {
  const { stringify } = await import('csv-stringify/browser/esm/sync')
  const csv = (rows: readonly (readonly string[])[]): string =>
    stringify(rows as string[][], { record_delimiter: '\r\n', quoted_match: /[\r\n]/ })
  return (async function* () {
    yield csv([columns])
    for await (const rows of pages) yield csv(rows.map(row => cellsOf(row, call)))
    return undefined
  })()
}

/**
 * A character with which spreadsheets begin a formula, wherever a cell may begin: the reader chooses the separator, which may be any
 * character but a letter or digit. Full-width forms count as formulas too.
 */
const formulaStart = /(?<![\p{L}\p{N}])[=+\-@＝＋－＠]|^[\t\r]/gu

const cellText = (value: unknown): string => (value === null || value === undefined ? '' : String(value).replaceAll(formulaStart, "'$&"))

/** Ends the request's log entry after the last line. */
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

import type { ApiReply } from './exchange.ts'
import type { Headers } from './headers.ts'

/** One JSON value as the whole body. */
export const json = (
  value: unknown,
  { status = 200, headers }: { readonly status?: number; readonly headers?: Headers } = {},
): ApiReply => ({
  status,
  headers: headers === undefined ? { 'content-type': 'application/json' } : { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})

/** The list envelope of the API. */
export const list = (data: readonly unknown[]): { readonly object: 'list'; readonly data: readonly unknown[]; readonly count: number } => ({
  object: 'list',
  data,
  count: data.length,
})

import type { ApiReply } from './api.ts'
import type { Headers } from './headers.ts'

/** A reply with one JSON value as its body. */
export const json = (
  value: unknown,
  { status = 200, headers }: { readonly status?: number; readonly headers?: Headers } = {},
): ApiReply => ({
  status,
  headers: headers === undefined ? { 'content-type': 'application/json' } : { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})

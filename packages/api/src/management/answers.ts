import type { Gateway } from '@signalbox/core'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import type { QueryParameter } from '../query.ts'
import type { Call } from '../route.ts'

/** What a change led to. */
export const accepted = (view: unknown): ApiReply => json(view, { status: 202 })

/** Whether other processes may not know a change yet. */
export const propagationOf = ({ isShared }: Gateway): 'pending' | null => (isShared ? 'pending' : null)

const limitParameter: QueryParameter = {
  name: 'limit',
  description: 'Number of entries per page. Default: 20.',
  whole: { min: 1, max: 100 },
}
const afterParameter: QueryParameter = { name: 'after', description: 'Id of the entry to continue after: `next` of the previous page.' }

/** The query parameters of lists whose entries have ids of the gateway's own. */
export const pages: readonly QueryParameter[] = [limitParameter, { ...afterParameter, uuid: true }]

/** The query parameters of lists of requests and payments, whose ids an application may have chosen. */
export const pagesByAnyId: readonly QueryParameter[] = [limitParameter, afterParameter]

interface ListOptions<T> {
  /** The requested number of entries after an id. */
  readonly list: (page: { readonly limit: number; readonly after?: string }) => Promise<readonly T[]>
  /** Entry → what the client reads. */
  readonly toView: (entry: T) => unknown
}

/** The page for a query. One entry more is read than shown, to find out whether there is a next page. */
export async function listed<T extends { readonly id: string }>({ query }: Call, { list, toView }: ListOptions<T>): Promise<ApiReply> {
  const limit = Number(query.limit ?? 20)
  const entries = await list({ limit: limit + 1, ...(query.after !== undefined && { after: query.after }) })
  const shown = entries.slice(0, limit)
  const more = entries.length > limit
  return json({
    object: 'list',
    data: shown.map(toView),
    count: shown.length,
    has_more: more,
    next: more ? (shown.at(-1)?.id ?? null) : null,
  })
}

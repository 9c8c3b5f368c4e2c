import type { ApiReply, ApiRequest } from './api.ts'

/** Which caches may keep a response: any cache on the way, or the client only. */
export type CacheScope = 'public' | 'private'

/** A public response may be a minute old; a private one is revalidated each time. */
const controls: Readonly<Record<CacheScope, string>> = { public: 'public, max-age=60', private: 'private, no-cache' }

/** Adds the cache headers of a response with an `ETag`. If `If-None-Match` contains it, the reply is 304 without a body. */
export function withCacheHeaders(reply: ApiReply, keeping: CacheScope, request: ApiRequest): ApiReply {
  const { etag } = reply.headers
  if (etag === undefined) return reply
  const headers = { ...reply.headers, 'cache-control': controls[keeping] }
  if (!isNamed(etag, request.header('if-none-match'))) return { ...reply, headers }
  const { 'content-type': _, ...rest }: Record<string, string> = headers
  return { ...reply, status: 304, headers: rest, body: '' }
}

/** `names` is `*` or a list. Weak tags match too, because compressing proxies make tags weak, and a weak match suffices for GET. */
const isNamed = (etag: string, names: string | undefined): boolean =>
  names !== undefined && (names.trim() === '*' || (names.match(/"[^"]*"/g)?.includes(etag) ?? false))

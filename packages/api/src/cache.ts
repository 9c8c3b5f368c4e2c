import type { ApiReply, ApiRequest } from './exchange.ts'

/** Who may keep an answer: anybody on its way, or only who asked. */
export type Keeping = 'public' | 'private'

/** What everybody gets may be a minute old; what needs a key is asked for anew each time, and mostly is what it was. */
const controls: Readonly<Record<Keeping, string>> = { public: 'public, max-age=60', private: 'private, no-cache' }

/** Says how long a good answer may be kept. Who has it still, by its `ETag`, gets 304 and no body. */
export function kept(reply: ApiReply, keeping: Keeping, request: ApiRequest): ApiReply {
  const { etag } = reply.headers
  if (etag === undefined) return reply
  const headers = { ...reply.headers, 'cache-control': controls[keeping] }
  if (!isNamed(etag, request.header('if-none-match'))) return { ...reply, headers }
  const { 'content-type': _, ...rest }: Record<string, string> = headers
  return { ...reply, status: 304, headers: rest, body: '' }
}

/** `*`, or a list. A proxy that compresses makes a tag weak; for GET a weak one says enough. */
const isNamed = (etag: string, names: string | undefined): boolean =>
  names !== undefined && (names.trim() === '*' || (names.match(/"[^"]*"/g)?.includes(etag) ?? false))

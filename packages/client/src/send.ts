import { ClientError, connectionFailed, errorOf, unexpectedReply } from './errors.ts'
import type { CallOptions, ClientOptions } from './options.ts'

/** What all calls of a client share. */
export interface ClientState {
  readonly options: ClientOptions
  readonly base: string
  /** Id of the workspace; found out by the first call that needs it. */
  workspace: string | undefined
}

export interface Call {
  /** As in `apiKeys.get`, for messages. */
  readonly name: string
  readonly method: string
  /** `~` begins the path of a workspace, `:` is an id, `*` an id that may hold slashes. */
  readonly template: string
  readonly ids: readonly unknown[]
  readonly query?: object | undefined
  readonly body?: object | undefined
  readonly options?: CallOptions | undefined
}

/** The reply to a call, once its status is a success. */
export async function send(state: ClientState, call: Call): Promise<Response> {
  const [reply] = await exchange(state, call, false)
  return reply
}

/** The JSON of the reply to a call. */
export async function jsonOf<T>(state: ClientState, call: Call): Promise<T> {
  const [reply, text] = await exchange(state, call, true)
  try {
    return JSON.parse(text)
  } catch {
    throw unexpectedReply(reply)
  }
}

async function exchange(state: ClientState, call: Call, isRead: boolean): Promise<readonly [Response, string]> {
  const { base, options } = state
  const { method, body, options: own } = call
  const url = base + (await pathFor(state, call))
  const { apiKey, fetch: ask = fetch } = options
  try {
    const reply = await ask(url, {
      method,
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...options.headers,
        ...(own?.idempotencyKey !== undefined && { 'idempotency-key': own.idempotencyKey }),
        ...own?.headers,
      },
      body: body ? JSON.stringify(body) : undefined,
      signal: own?.signal,
    })
    const text = isRead || !reply.ok ? await reply.text() : ''
    if (reply.ok) return [reply, text]
    throw errorOf(reply, text)
  } catch (error) {
    own?.signal?.throwIfAborted()
    throw error instanceof ClientError ? error : connectionFailed(url, error)
  }
}

async function pathFor(state: ClientState, { name, template, ids, query = {}, options }: Call): Promise<string> {
  const left = [...ids]
  const path = template.replace(/[:*]/g, place => segmentOf(name, left.shift(), place))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([key, value]) => [key, value instanceof Date ? value.toISOString() : String(value)]))
  const end = given.length === 0 ? path : `${path}?${search}`
  if (!path.startsWith('~')) return end
  state.workspace ??= (
    await jsonOf<{ readonly workspace: { readonly id: string } }>(state, {
      name: 'me',
      method: 'GET',
      template: '/v1/me',
      ids: [],
      options,
    })
  ).workspace.id
  return `/v1/workspaces/${segmentOf('workspace', state.workspace, ':')}${end.slice(1)}`
}

/** An id as a part of a path. Without the check, an empty id or `..` would lead to another resource. */
function segmentOf(name: string, id: unknown, place: string): string {
  const parts = place === '*' ? String(id).split('/') : [id]
  if (typeof id !== 'string' || parts.some(part => part === '' || part === '.' || part === '..'))
    throw new TypeError(`${name}: an id is ${JSON.stringify(id) ?? 'missing'}. It takes the id that the gateway gave, as text.`)
  return parts.map(part => encodeURIComponent(String(part))).join('/')
}

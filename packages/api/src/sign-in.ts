import type { EndUserOf } from '@signalbox/core/access'
import type { Clock } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Awaitable } from '@signalbox/storage'
import type { ApiReply, ApiRequest, SignedIn } from './api.ts'

/**
 * The sign-in of the app that embeds the gateway. It returns the user of a request and the workspace that pays, a Response to send instead
 * of a reply, such as a redirect, or undefined to authenticate by API key. It is called for each request and for each message of a
 * WebSocket, and must return within `authenticateMs`. If it throws, the reply is a 500.
 *
 * @example
 * const signIn: SignIn<Request> = async request => {
 *   const session = await readSession(request)
 *   return session && { workspace: 'app', user: session.userId, budgets: [{ limit: usd(5) }] }
 * }
 */
export type SignIn<Incoming> = (request: Incoming) => Awaitable<EndUserOf | Response | null | undefined>

/**
 * Creates `ApiRequest.signedIn` for a request. `again` creates the request passed to later calls, for the messages of a WebSocket;
 * default: the same request.
 *
 * @throws from `signedIn`: what the sign-in throws, and TypeError if it returns anything else
 * @example const incoming = { ...exchange, ...signedInBy(options.authenticate, request) }
 */
export function signedInBy<Incoming>(
  signIn: SignIn<Incoming>,
  request: Incoming,
  again: () => Incoming = () => request,
): Required<Pick<ApiRequest, 'signedIn'>> {
  let isFirst = true
  return {
    async signedIn() {
      const incoming = isFirst ? request : again()
      isFirst = false
      const known = (await signIn(incoming)) ?? undefined
      if (known === undefined) return undefined
      if (typeof known !== 'object') throw new TypeError(`\`authenticate\` answered with a ${typeof known}. ${signInReturns}`)
      return isResponse(known) ? { reply: await toReply(known) } : { user: known }
    },
  }
}

const signInReturns = 'It returns a user, as in `{ workspace, user }`, a Response, or nothing.'

/** Checked by its methods, because a Response may come from another realm or a polyfill. */
const isResponse = (known: EndUserOf | Response): known is Response =>
  known instanceof Response || typeof (known as Partial<Response>).arrayBuffer === 'function'

/** Headers that describe the body as sent to the app, or the connection. */
const notPassedOn = ['connection', 'content-encoding', 'content-length', 'keep-alive', 'set-cookie', 'transfer-encoding']

async function toReply(response: Response): Promise<ApiReply> {
  if (response.status < 200) throw new TypeError(`\`authenticate\` answered with a Response of status ${response.status}. ${signInReturns}`)
  const headers = new Headers(response.headers)
  const cookies = headers.getSetCookie()
  for (const name of notPassedOn) headers.delete(name)
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await response.text(),
    cookies: cookies.length > 0 ? cookies : undefined,
  }
}

type AskedRequest = Required<Pick<ApiRequest, 'signedIn' | 'signal'>>

interface AskOptions {
  readonly clock: Clock
  /** Milliseconds. */
  readonly authenticateMs: number
}

/**
 * Calls the sign-in of the app, until the client disconnects. Later results are ignored.
 *
 * @throws `service_unavailable` (503) after `authenticateMs`; `client_disconnected`; what the sign-in throws
 */
export function askSignIn({ signedIn, signal }: AskedRequest, { clock, authenticateMs }: AskOptions): Promise<SignedIn | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(clientDisconnectedError())
      return
    }
    const end = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
    const leave = (): void => {
      end()
      reject(clientDisconnectedError())
    }
    const timer = clock.setTimeout(() => {
      end()
      reject(signInTimeoutError(authenticateMs))
    }, authenticateMs)
    signal.addEventListener('abort', leave, { once: true })
    signedIn().then(resolve, reject).finally(end)
  })
}

const clientDisconnectedError = (): GatewayError =>
  new GatewayError('client_disconnected', { message: 'The client disconnected during sign-in.' })

const signInTimeoutError = (milliseconds: number): GatewayError =>
  new GatewayError('service_unavailable', {
    message: `\`authenticate\`, the sign-in of the app, did not return within ${milliseconds / 1_000} s. Try again in a moment.`,
    retryAfterMs: 1_000,
    cause: new Error('`authenticate` did not return in time; the limit is `authenticateMs`.'),
  })

import { GatewayError } from '@signalbox/core/errors'
import type { EndUserOf } from '@signalbox/core/management'
import type { Awaitable, Clock } from '@signalbox/core/runtime'
import type { ApiReply, ApiRequest, SignedIn } from './api.ts'

/**
 * The sign-in of the app that embeds the gateway: finds the user that a request comes from, and the workspace that pays. A Response is
 * sent instead of an answer, such as a redirect; without either the API key of the request decides. It is asked for each request, and for
 * each message of a WebSocket, and has `authenticateMs` to answer. What it throws is a 500.
 *
 * @example
 * const signIn: SignIn<Request> = async request => {
 *   const session = await readSession(request)
 *   return session && { workspace: 'app', user: session.userId, budgets: [{ limit: usd(5) }] }
 * }
 */
export type SignIn<Incoming> = (request: Incoming) => Awaitable<EndUserOf | Response | null | undefined>

/**
 * `ApiRequest.signedIn` of one request. `again`: the request as it is given to the sign-in after the first time, for the messages of a
 * WebSocket; default: the same.
 *
 * @throws what the sign-in throws, and TypeError if it answers with none of these: from `signedIn`
 * @example const asked = { ...exchange, ...signedInBy(options.authenticate, request) }
 */
export function signedInBy<Incoming>(
  signIn: SignIn<Incoming>,
  request: Incoming,
  again: () => Incoming = () => request,
): Required<Pick<ApiRequest, 'signedIn'>> {
  let isFirst = true
  return {
    async signedIn() {
      const asked = isFirst ? request : again()
      isFirst = false
      const known = (await signIn(asked)) ?? undefined
      if (known === undefined) return undefined
      if (typeof known !== 'object') throw new TypeError(`\`authenticate\` answered with a ${typeof known}. ${signInReturns}`)
      return isResponse(known) ? { reply: await toReply(known) } : { user: known }
    },
  }
}

const signInReturns = 'It returns a user, as in `{ workspace, user }`, a Response, or nothing.'

/** A Response may be of another realm or of a polyfill; a user has no methods. */
const isResponse = (known: EndUserOf | Response): known is Response =>
  known instanceof Response || typeof (known as Partial<Response>).arrayBuffer === 'function'

/** They describe the body as it was sent to the app, or the connection. */
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
    ...(cookies.length > 0 && { cookies }),
  }
}

type AskedRequest = Required<Pick<ApiRequest, 'signedIn' | 'signal'>>

interface AskOptions {
  readonly clock: Clock
  /** Milliseconds. */
  readonly authenticateMs: number
}

/**
 * Asks the sign-in of the app, for as long as the client is there. What it answers after that is ignored.
 *
 * @throws `service_unavailable` (503) after `authenticateMs`; `client_disconnected`; what the sign-in throws
 */
export function askSignIn({ signedIn, signal }: AskedRequest, { clock, authenticateMs }: AskOptions): Promise<SignedIn | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(left())
      return
    }
    const end = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
    const leave = (): void => {
      end()
      reject(left())
    }
    const timer = clock.setTimeout(() => {
      end()
      reject(tooSlow(authenticateMs))
    }, authenticateMs)
    signal.addEventListener('abort', leave, { once: true })
    signedIn().then(resolve, reject).finally(end)
  })
}

const left = (): GatewayError => new GatewayError('client_disconnected', { message: 'The client disconnected during sign-in.' })

const tooSlow = (milliseconds: number): GatewayError =>
  new GatewayError('service_unavailable', {
    message: `\`authenticate\`, the sign-in of the app, did not return within ${milliseconds / 1_000} s. Try again in a moment.`,
    retryAfterMs: 1_000,
    cause: new Error('`authenticate` did not return in time; the limit is `authenticateMs`.'),
  })

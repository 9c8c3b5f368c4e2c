import type { EndUserOf } from '@signalbox/core/management'
import type { Awaitable } from '@signalbox/core/runtime'
import type { ApiReply, ApiRequest } from './api.ts'

/**
 * The sign-in of the app that embeds the gateway: finds the user that a request comes from, and the workspace that pays. A Response is
 * sent instead of an answer, such as a redirect; without either the API key of the request decides. What it throws is a 500.
 *
 * @example
 * const signIn: SignIn<Request> = async request => {
 *   const session = await readSession(request)
 *   return session && { workspace: 'app', user: session.userId, budgets: [{ limit: usd(5) }] }
 * }
 */
export type SignIn<Incoming> = (request: Incoming) => Awaitable<EndUserOf | Response | null | undefined>

/** `ApiRequest.signedIn` of one request. `{ ...exchange, ...signedInBy(options.authenticate, request) }` */
export function signedInBy<Incoming>(signIn: SignIn<Incoming>, request: Incoming): Pick<ApiRequest, 'signedIn'> {
  const ask = async (): Promise<EndUserOf | ApiReply | undefined> => {
    const known = (await signIn(request)) ?? undefined
    return known && 'status' in known ? toReply(known) : known
  }
  // Once: the messages of a WebSocket connection are all of the user that opened it.
  let asked: ReturnType<typeof ask> | undefined
  return { signedIn: () => (asked ??= ask()) }
}

const toReply = async (response: Response): Promise<ApiReply> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: await response.text(),
})

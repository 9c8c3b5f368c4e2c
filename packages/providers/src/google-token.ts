import { asIterator } from '@signalbox/core/runtime'
import { parseBounded } from '@signalbox/dialects/common'
import type { AuthorizationContext, Credential, TransportReply } from '@signalbox/dialects/protocol'
import { answerLimits, isObject, type JsonObject } from '@signalbox/dialects/protocol'

// Exchanges a signed assertion of a service account for an access token, which is valid for an hour.

/** The fields used from the JSON key of a Google service account. */
export interface ServiceAccount {
  readonly client_email: string
  /** PKCS #8, PEM-encoded. */
  readonly private_key: string
  readonly private_key_id?: string
  readonly project_id?: string
  readonly token_uri?: string
}

/** Parses the JSON key of a service account; undefined if the text is not one. */
export function readServiceAccount(secret: string): ServiceAccount | undefined {
  const key = /^\s*\{/.test(secret) ? parseObject(secret) : undefined
  const { client_email, private_key, private_key_id, project_id, token_uri } = key ?? {}
  if (typeof client_email !== 'string' || typeof private_key !== 'string') return undefined
  return {
    client_email,
    private_key,
    private_key_id: typeof private_key_id === 'string' ? private_key_id : undefined,
    project_id: typeof project_id === 'string' ? project_id : undefined,
    token_uri: typeof token_uri === 'string' ? token_uri : undefined,
  }
}

function parseObject(text: string): JsonObject | undefined {
  const value = parseBounded(text)
  return isObject(value) ? value : undefined
}

interface Token {
  /** The access token, or undefined if the account was rejected. */
  readonly value: string | undefined
  /** When the token stops being used, in monotonic milliseconds. */
  readonly until: number
}

interface CachedToken {
  readonly secret: string
  /** Signal of the call that fetches the token. If that call is aborted, another call has to fetch it. */
  readonly signal: AbortSignal
  readonly pending: Promise<Token>
  token: Token | undefined
}

/** Maximum cached tokens; more accounts than one process serves at a time. */
const maxAccounts = 1000

/**
 * Creates a token cache. Concurrent calls with the same credential share one fetch. The token is undefined if the account was rejected.
 *
 * @example const tokenFor = googleTokens(); const token = await tokenFor(credential, account, call)
 */
export function googleTokens(): (
  credential: Credential,
  account: ServiceAccount,
  call: AuthorizationContext,
) => Promise<string | undefined> {
  const known = new Map<string, CachedToken>()

  const start = ({ id, secret }: Credential, account: ServiceAccount, call: AuthorizationContext): CachedToken => {
    const held: CachedToken = { secret, signal: call.signal, pending: fetchToken(account, call), token: undefined }
    known.delete(id)
    known.set(id, held)
    const [oldest] = known.keys()
    if (known.size > maxAccounts && oldest !== undefined) known.delete(oldest)
    held.pending.then(
      token => {
        held.token = token
      },
      () => {
        if (known.get(id) === held) known.delete(id)
      },
    )
    return held
  }

  const isGood = (held: CachedToken, secret: string, monotonic: number): boolean =>
    held.secret === secret && (!held.token || monotonic < held.token.until)

  return async function tokenFor(credential, account, call) {
    const before = known.get(credential.id)
    const held = before && isGood(before, credential.secret, call.monotonic) ? before : start(credential, account, call)
    try {
      return (await held.pending).value
    } catch (error) {
      const wasLeft = held.signal.aborted && !call.signal.aborted
      if (wasLeft) return tokenFor(credential, account, call)
      throw error
    }
  }
}

const tokenHost = 'oauth2.googleapis.com'
const tokenEndpoint = `https://${tokenHost}/token`

/** Keys may come from workspaces, so only Google's own token endpoint is accepted. */
function endpointOf({ token_uri = '' }: ServiceAccount): string {
  const isGoogle = URL.canParse(token_uri) && new URL(token_uri).origin === `https://${tokenHost}`
  return isGoogle ? token_uri : tokenEndpoint
}

const refusedStatuses: ReadonlySet<number> = new Set([400, 401, 403])
const early = 60_000

async function fetchToken(account: ServiceAccount, { transport, now, monotonic, signal }: AuthorizationContext): Promise<Token> {
  const refused: Token = { value: undefined, until: Number.NEGATIVE_INFINITY }
  const url = endpointOf(account)
  const assertion = await sign(account, url, now)
  if (assertion === undefined) return refused
  const reply = await transport({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
    signal,
  })
  const body = parseObject(await readTokenReply(reply))
  if (refusedStatuses.has(reply.status)) return refused
  const { access_token, expires_in } = body ?? {}
  if (reply.status !== 200 || typeof access_token !== 'string' || access_token === '')
    throw Object.assign(new Error(`No token came from ${tokenHost} (status ${reply.status}).`), { code: 'NO_TOKEN' })
  const seconds = typeof expires_in === 'number' && expires_in > 0 ? expires_in : 0
  return { value: access_token, until: monotonic + seconds * 1000 - early }
}

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const hour = 3600

/**
 * Returns the signed assertion, or undefined if the private key is invalid. Loads `jose` on first use because most gateways have no service
 * account.
 */
async function sign(
  { client_email, private_key, private_key_id }: ServiceAccount,
  audience: string,
  now: number,
): Promise<string | undefined> {
  const { importPKCS8, SignJWT } = await import('jose')
  const key = await importPKCS8(private_key, 'RS256').catch(() => undefined)
  const seconds = Math.floor(now / 1000)
  return (
    key &&
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(private_key_id !== undefined && { kid: private_key_id }) })
      .setIssuer(client_email)
      .setAudience(audience)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + hour)
      .sign(key)
  )
}

async function readTokenReply({ body }: TransportReply): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  const pieces = asIterator(body)
  for (let step = await pieces.next(); !step.done && text.length < answerLimits.tokenCharacters; step = await pieces.next())
    text += decoder.decode(step.value, { stream: true })
  await pieces.return?.()
  return text
}

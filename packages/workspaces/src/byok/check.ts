import type { CredentialBody } from '@signalbox/core/access'
import type { Clock } from '@signalbox/core/runtime'
import { asSource, timersOf } from '@signalbox/core/runtime'
import { maxFailureBytes, readBodyText } from '@signalbox/core/upstream'
import type { AccountCheck, Credential, Provider, Transport } from '@signalbox/dialects/protocol'
import pTimeout from 'p-timeout'

/** Undefined: not checked, because the provider has no free way to check a key. */
export type Checked = Checks | undefined

interface Checks {
  readonly status: Exclude<CredentialBody['validationStatus'], 'pending'>
  /** Reads headers of the response, if there was one. */
  readonly header?: (name: string) => string | undefined
}

export interface CheckPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** Cancels the check. */
  readonly signal: AbortSignal
}

const maxCheckMs = 10_000

/**
 * Sends a credential to its provider to see whether it is accepted. Never throws, and returns no reason, because error messages may contain
 * secrets.
 */
export async function checkAccount(provider: Provider, credential: Credential, ports: CheckPorts): Promise<Checked> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  ports.signal.addEventListener('abort', end, { once: true })
  try {
    const check = provider.account?.check?.(credential)
    if (!check) return undefined
    const result = ask({ provider, credential, check }, { ...ports, signal: ending.signal })
    return await pTimeout(result, { milliseconds: maxCheckMs, signal: ending.signal, customTimers: timersOf(ports.clock) })
  } catch {
    return { status: 'error' }
  } finally {
    ports.signal.removeEventListener('abort', end)
    ending.abort()
  }
}

interface Asked {
  readonly provider: Provider
  readonly credential: Credential
  readonly check: AccountCheck
}

async function ask({ provider, credential, check }: Asked, { transport, clock, signal }: CheckPorts): Promise<Checks> {
  const { api, url } = check
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'signalbox', ...check.headers }
  const before = Object.keys(headers).length
  const times = { now: clock.now(), monotonic: clock.monotonic() }
  await provider.authorize(headers, credential, { api, url: url ?? '', body: '', transport, ...times, signal })
  if (url === undefined) return { status: Object.keys(headers).length > before ? 'valid' : 'invalid' }
  const { status, header, body } = await transport({ url, method: 'GET', headers, signal })
  if (status >= 200 && status < 300) {
    asSource(body).cancel()
    return { status: 'valid', header }
  }
  const { text } = await readBodyText(body, maxFailureBytes)
  const refused = status === 401 || status === 403 || isRefusal(provider, api, { status, body: text, header, now: clock.now() })
  return { status: refused ? 'invalid' : 'error', header }
}

/** Some providers report a refusal with another status. */
const isRefusal = (
  { dialects }: Provider,
  dialect: string,
  answer: Parameters<Provider['dialects'][number]['decodeFailure']>[0],
): boolean => dialects.find(({ name }) => name === dialect)?.decodeFailure(answer).kind === 'bad_credential'

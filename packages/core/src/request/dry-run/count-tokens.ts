import { withoutForeignRecords, withoutStoredRecords } from '@signalbox/dialects/common'
import type { InferenceRequest, JsonObject, ProviderDialect } from '@signalbox/dialects/protocol'
import pTimeout from 'p-timeout'
import type { Caller } from '../../access/caller.ts'
import { estimateTokens } from '../../metering/count.ts'
import { mayOpenStored } from '../../routing/offer-facts.ts'
import type { Candidate } from '../../routing/plan.ts'
import { createCancellation } from '../../runtime/cancellation.ts'
import type { ClaimMemory } from '../../runtime/ports.ts'
import { runSteps, type Step } from '../../runtime/steps.ts'
import { timersOf } from '../../runtime/timers.ts'
import { inlineMedia, kindsToRead } from '../../upstream/inline-media.ts'
import { Exchange, type ProviderRequest } from '../../upstream/send.ts'
import { countRequest } from '../admission/admit.ts'
import type { EarlyAdmission } from '../admission/early-admission.ts'
import { isOwnRateLimit } from '../admission/limits.ts'
import { watchAdmission } from '../admission-watch.ts'
import type { Engine } from '../engine.ts'
import { type PreparedRequest, prepareRequest } from '../prepare-request.ts'
import { rankOffers } from './planned-request.ts'

/** The input tokens of a request. */
export interface TokenCount {
  readonly input_tokens: number
  /** Whether the count is estimated by the gateway, without the provider's tokenizer. */
  readonly estimated: boolean
}

/** The caller for which input tokens are counted, and when to stop waiting. */
export interface CountTokensOptions {
  readonly caller: Caller
  readonly signal?: AbortSignal | undefined
  /** An early admission that has already counted the request. */
  readonly admission?: EarlyAdmission | undefined
  /** As in `CallOptions`. If it throws, the tokens are estimated. */
  readonly claimMemory?: ClaimMemory | undefined
}

/** Longest wait for a provider's count in milliseconds; after that, the count is estimated. */
const countingMs = 5_000

/**
 * Counts input tokens with a provider's token counting endpoint if a candidate has one and it responds; otherwise estimates. Free of
 * charge.
 */
export async function countRequestTokens(
  ports: Engine,
  originalRequest: InferenceRequest,
  { caller, signal, admission, claimMemory }: CountTokensOptions,
): Promise<TokenCount> {
  const prepared = await admitCount(ports, originalRequest, { caller, signal, admission, claimMemory })
  const { request, carried } = prepared
  const offers = rankOffers(ports, prepared)
  const counter = firstOf(offers, each => counterOf(each.candidate))
  const candidate = counter?.candidate ?? offers[0].candidate
  const seen = carried?.fit(candidate, false).request ?? request
  const counted = counter && (await byProvider(ports, seen, { ...counter, signal, claimMemory }))
  return { input_tokens: counted ?? estimateTokens(seen.prompt), estimated: counted === undefined }
}

/** Admits the count. Its waits end when the client disconnects or the deadline passes. */
async function admitCount(ports: Engine, originalRequest: InferenceRequest, options: CountTokensOptions): Promise<PreparedRequest> {
  const { signal } = options
  const cancellation = createCancellation()
  const leave = (): void => cancellation.cancel('client_left')
  if (signal?.aborted) leave()
  else signal?.addEventListener('abort', leave, { once: true })
  const { clock, timeouts } = ports
  const deadlineMs = originalRequest.routing.deadline_ms ?? timeouts.deadlineMs
  const admissionWatch = watchAdmission({ cancellation, clock, deadlineMs, startedAt: clock.monotonic() })
  try {
    return await runSteps(planCount(ports, originalRequest, options), admissionWatch)
  } finally {
    signal?.removeEventListener('abort', leave)
  }
}

function* planCount(
  ports: Engine,
  originalRequest: InferenceRequest,
  { caller, admission, claimMemory }: CountTokensOptions,
): Step<PreparedRequest> {
  const prepared = yield* prepareRequest(ports, originalRequest, { caller, claimMemory, isCount: true })
  const { policy, plan } = prepared
  const at = ports.clock.now()
  try {
    yield* countRequest({ caller, policy, plan, at, admission }, ports)
  } catch (error) {
    if (isOwnRateLimit(error)) ports.refusals.count(caller, at)
    throw error
  }
  return prepared
}

interface Counter {
  readonly candidate: Candidate
  readonly dialect: ProviderDialect
  readonly counting: NonNullable<ProviderDialect['counting']>
  readonly url: string
}

interface CounterCall extends Counter, Pick<CountTokensOptions, 'claimMemory'> {
  readonly signal: AbortSignal | undefined
}

function counterOf(candidate: Candidate): Counter | undefined {
  const { provider, offer, credential, dialect } = candidate
  const address = { api: offer.api, model: offer.model, stream: false, credential }
  const url = dialect?.counting && provider.countEndpoint?.(address)
  return dialect?.counting && url !== undefined ? { candidate, dialect, counting: dialect.counting, url } : undefined
}

/** The provider's count. Undefined if the call failed, returned no number, or took too long. */
async function byProvider(ports: Engine, request: InferenceRequest, { signal, ...counter }: CounterCall): Promise<number | undefined> {
  const connection = new AbortController()
  const hangUp = (): void => connection.abort()
  if (signal?.aborted) hangUp()
  else signal?.addEventListener('abort', hangUp, { once: true })
  try {
    const asking = callCounter(ports, request, { ...counter, signal: connection.signal })
    return await pTimeout(asking, { milliseconds: countingMs, fallback: () => undefined, customTimers: timersOf(ports.clock) })
  } catch (error) {
    ports.logger.error(
      { provider: counter.candidate.provider.id, error: String(error) },
      'A provider that runs in this process threw an error. Its tokens are estimated.',
    )
    return undefined
  } finally {
    signal?.removeEventListener('abort', hangUp)
    hangUp()
  }
}

async function callCounter(
  { transport, clock, media }: Engine,
  request: InferenceRequest,
  { candidate, dialect, counting, url, signal, claimMemory }: CounterCall & { readonly signal: AbortSignal },
): Promise<number | undefined> {
  const { quirks } = candidate
  const kinds = media ? kindsToRead(request, { dialect, quirks }) : []
  const inlined = media && kinds.length > 0 ? await inlineMedia(request, { kinds, read: media, signal, claimMemory }) : undefined
  if (inlined && !inlined.ok) return undefined
  const known = withoutStoredRecords(inlined?.request ?? request, mayOpenStored(candidate))
  const { request: sent } = withoutForeignRecords(known.request, candidate.offer.api)
  const encoded = counting.encodeRequest(sent, candidate.offer, quirks)
  const body = await requestJson({ candidate, dialect, encoded, quirks, stream: false, signal, url }, { transport, clock })
  const tokens = body && counting.decode(body)
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined
}

/** Sends a request and returns its JSON object. Undefined if it failed or is not one. Rejects if provider code throws. */
const requestJson = (request: ProviderRequest, engine: Pick<Engine, 'transport' | 'clock'>): Promise<JsonObject | undefined> =>
  new Promise((resolve, reject) =>
    new Exchange(request, engine, {
      onAccepted: () => {},
      onBody: resolve,
      onStream: source => {
        source.cancel()
        resolve(undefined)
        return { next: () => {}, end: () => {}, fail: () => {} }
      },
      onFailure: () => resolve(undefined),
      onError: reject,
    }).send(),
  )

function firstOf<T, U>(list: readonly T[], find: (each: T) => U | undefined): U | undefined {
  for (const each of list) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}

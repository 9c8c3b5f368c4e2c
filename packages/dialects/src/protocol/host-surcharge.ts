import type { Model, Offer } from './model.ts'
import type { Credential, HostSurcharge, Provider } from './provider.ts'

/** An offer together with what determines its host. */
interface CalledOffer {
  readonly offer: Pick<Offer, 'api' | 'model'>
  readonly model?: Pick<Model, 'created'>
  readonly provider: Partial<Pick<Provider, 'endpoint' | 'hostSurcharges'>>
  readonly credential?: Credential
}

/** Cached because the URL of a candidate does not change. */
const found = new WeakMap<CalledOffer, HostSurcharge | null>()

/** The first surcharge that applies at the host where the offer is called, if any. Only for providers with `hostSurcharges`. */
export function hostSurchargeOf(called: CalledOffer): HostSurcharge | undefined {
  const known = found.get(called)
  if (known !== undefined) return known ?? undefined
  const surcharge = findSurcharge(called)
  found.set(called, surcharge ?? null)
  return surcharge
}

function findSurcharge(called: CalledOffer): HostSurcharge | undefined {
  const { offer, model, provider } = called
  const host = calledHost(called)
  return provider.hostSurcharges?.find(
    each =>
      matches(host, each.host) &&
      (each.model?.test(offer.model) ?? true) &&
      // A model of unknown age may be new.
      (each.since === undefined || model?.created === undefined || model.created >= Date.parse(each.since) / 1_000),
  )
}

function calledHost({ offer, provider, credential }: CalledOffer): string {
  if (!credential) return ''
  try {
    const url = provider.endpoint?.({ api: offer.api, model: offer.model, stream: false, credential })
    return url === undefined ? '' : new URL(url).hostname
  } catch {
    // The account has no valid URL. The call itself reports the error.
    return ''
  }
}

function matches(host: string, pattern: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return host === pattern
  const end = pattern.slice(star + 1)
  return host.length > pattern.length - 1 && host.startsWith(pattern.slice(0, star)) && host.endsWith(end)
}

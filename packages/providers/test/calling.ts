import type { AuthorizationContext, EndpointContext, Provider } from '@signalbox/dialects/protocol'

/** A call of `provider` with its own credential. */
export const addressing = (provider: Provider, dialect: string, { model = 'm', stream = false } = {}): EndpointContext => {
  if (!provider.credential) throw new Error(`${provider.id} is off`)
  return { api: dialect, model, stream, credential: provider.credential }
}

/** What a provider may look at when it proves who we are. */
export const authorizing = (dialect: string): AuthorizationContext => ({
  api: dialect,
  url: 'https://provider.example/',
  body: '{}',
  transport: () => Promise.reject(new Error('Nobody is asked.')),
  now: 0,
  monotonic: 0,
  signal: new AbortController().signal,
})

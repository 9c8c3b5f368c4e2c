import { describe, expect, test } from 'vitest'
import { chatFields, type FieldSample, messagesFields, responsesFields } from '../test/client-fields.ts'
import { encodeForOffer } from './clients/encode-for-offer.ts'
import { clientDialects } from './index.ts'
import type { ClientDialect, ProviderDialect } from './protocol/dialect.ts'
import type { Offer } from './protocol/model.ts'
import { originalOf } from './protocol/original.ts'
import type { JsonObject } from './protocol/wire.ts'
import { providerDialects } from './providers.ts'

const simple: Readonly<Record<string, JsonObject>> = {
  responses: { model: 'm', input: [{ role: 'user', content: 'Hi' }] },
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  messages: { model: 'm', max_tokens: 2000, messages: [{ role: 'user', content: 'Hi' }] },
}
const fields: Readonly<Record<string, readonly FieldSample[]>> = { responses: responsesFields, chat: chatFields, messages: messagesFields }

const encoded = (client: ClientDialect, provider: ProviderDialect, body: JsonObject) => {
  const request = client.decodeRequest(body)
  const offer: Offer = { provider: 'p', model: 'm', api: provider.name, maxOutputTokens: 64_000 }
  return { request, ...encodeForOffer(provider, request, { offer, quirks: {} }) }
}

const pairs = Object.values(clientDialects).flatMap(client => Object.values(providerDialects).map(provider => ({ client, provider })))

describe.each(pairs)('$client.name → $provider.name', ({ client, provider }) => {
  test('each field is sent, or gives a warning', () => {
    const isLost = ({ body, beside, silent }: FieldSample): boolean => {
      const base = { ...simple[client.name], ...beside }
      const bare = encoded(client, provider, base)
      const full = encoded(client, provider, { ...base, ...body })
      const isSent = JSON.stringify([full.body, full.headers]) !== JSON.stringify([bare.body, bare.headers])
      return silent === undefined && !isSent && full.warnings.length <= bare.warnings.length
    }
    expect((fields[client.name] ?? []).filter(isLost)).toEqual([])
  })

  test('default values give no warning', () => {
    expect(encoded(client, provider, simple[client.name] ?? {}).warnings).toEqual([])
  })
})

/**
 * Fields that the gateway answers itself, or that are rewritten for an offer: a tier by its price, a limit by its name. Chat hosts accept
 * metadata only for stored responses.
 */
const reworded: ReadonlySet<string> = new Set(['gateway', 'extensions', 'stream_options', 'service_tier', 'max_tokens', 'metadata'])

test.each(Object.values(clientDialects))('a request of a $name client to a provider of the same dialect is sent unchanged', client => {
  const provider = providerDialects[client.name]
  if (!provider) throw new Error(`Nobody speaks ${client.name} to providers.`)
  for (const { body, beside, silent } of fields[client.name] ?? []) {
    if (silent !== undefined) continue
    const { request, body: sent } = encoded(client, provider, { ...simple[client.name], ...beside, ...body })
    const expected = Object.fromEntries(Object.entries(originalOf(request)?.body ?? {}).filter(([field]) => !reworded.has(field)))
    expect(sent).toMatchObject(expected)
  }
})

import type { BuiltInDialect } from '@signalbox/dialects'
import type { Model, Provider, Transport } from '@signalbox/dialects/protocol'
import { compatible } from '@signalbox/providers'
import { testPrice } from '../src/gateway.ts'

// Providers that answer with exact bytes, without a socket: what arrives, in which pieces, and how it ends.

/** What one call to a provider is answered with. */
export interface RawAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly pieces: readonly Uint8Array[]
  /** The connection breaks behind the last piece. */
  readonly breaks?: boolean
}

/** Answers every call with what `answer` returns for its URL and its body. */
export const scriptedTransport =
  (answer: (url: string, body: string) => RawAnswer): Transport =>
  async ({ url, body: sent = '', signal }) => {
    const { status = 200, headers = {}, pieces, breaks = false } = answer(url, sent)
    let at = 0
    return {
      status,
      header: name => headers[name],
      body: {
        async next() {
          if (signal.aborted) throw signal.reason
          const value = pieces[at]
          at += 1
          if (value) return { done: false, value }
          if (breaks) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
          return { done: true, value: undefined }
        },
        return: async () => {
          at = pieces.length
          return { done: true, value: undefined }
        },
      },
    }
  }

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A provider of one dialect at `http://<id>.test/v1`. */
export const rawProvider = (id: string, dialect: BuiltInDialect): Provider =>
  compatible({ id, baseURL: `http://${id}.test/v1`, apiKey: `sk-${id}-secret`, apis: [dialect] })

/** A model with an offer of each of these providers, in order. */
export const modelOf = (id: string, offers: readonly { readonly provider: string; readonly dialect: BuiltInDialect }[]): Model => ({
  id,
  offers: offers.map(({ provider, dialect: api }) => ({ provider, model: id, api, price: testPrice })),
})

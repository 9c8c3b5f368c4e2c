// A company's own model server as a provider: it speaks Chat Completions, and takes signed requests instead of a bearer token.
import { createHmac } from 'node:crypto'
import { defineProvider, type Provider } from 'signalbox/custom'
import { chatProvider } from 'signalbox/dialects'

interface AcmeOptions {
  /** Absent or empty: the provider is known, and off. */
  readonly apiKey?: string | undefined
  readonly baseURL?: string | undefined
}

export function acme({ apiKey, baseURL }: AcmeOptions): Provider<'acme'> {
  const provider = defineProvider({
    id: 'acme',
    displayName: 'Acme',
    baseURL: baseURL || 'https://llm.acme.example/v1',
    dialects: [chatProvider],
    apiKey: apiKey || undefined,
    dataPolicy: 'zdr',
    // How the server departs from Chat Completions. What it refuses is left out of requests, with a warning to the client.
    quirks: { maxTokensField: 'max_tokens', refuses: ['logit_bias', 'top_k'] },
  })
  return {
    ...provider,
    authorize(headers, { secret }, { body, now }) {
      headers['x-acme-time'] = String(now)
      headers['x-acme-signature'] = createHmac('sha256', secret).update(`${now}.${body}`).digest('hex')
    },
  }
}

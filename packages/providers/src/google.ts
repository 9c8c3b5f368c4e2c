import type { EndpointContext, Provider } from '@signalbox/dialects/protocol'
import { geminiProvider } from '@signalbox/dialects/providers'
import { defineProvider } from './define-provider.ts'
import { geminiQuirks } from './gemini-models.ts'
import { providerOptions } from './provider-options.ts'
import { type VendorOptions, vendorOptions } from './vendor.ts'

/** Google's developer API (Gemini). */
export function google(options: VendorOptions = {}): Provider<'google'> {
  const { apiKey, baseURL = 'https://generativelanguage.googleapis.com/v1beta' } = providerOptions('google', options, vendorOptions)
  const provider = defineProvider({
    id: 'google',
    displayName: 'Google',
    baseURL,
    paths: { gemini: call => `/${modelPath(call.model)}:${methodFor(call)}` },
    dialects: [geminiProvider],
    apiKey,
    keyHeaders: { gemini: 'x-goog-api-key' },
    // Source: ai.google.dev/gemini-api/docs/priority-inference, 2026-11-24.
    // The price of flex: ai.google.dev/gemini-api/docs/optimization, read on 2026-11-28.
    quirks: { priorityTier: 'priority', flexPercent: 50, tierHeader: 'x-gemini-service-tier' },
    quirksOf: model => geminiQuirks(model, ['top_logprobs']),
    dataPolicy: 'no_training',
    check: '/models?pageSize=1',
  })
  const root = baseURL.replace(/\/+$/, '')
  return { ...provider, countEndpoint: ({ model }) => `${root}/${modelPath(model)}:countTokens` }
}

const methodFor = ({ stream }: EndpointContext): string => (stream ? 'streamGenerateContent?alt=sse' : 'generateContent')

/** `models/…`, or the full name of a tuned model. */
const modelPath = (model: string): string => (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/')
